package dhctl

// moment is where a conversation stands.
type moment string

const (
	initial  moment = "initial"  // nothing was asked yet
	running  moment = "running"  // the operation works
	waiting  moment = "waiting"  // a phase ended and the caller has not answered
	finished moment = "finished" // the result is known
)

// event is what moves a conversation on.
type event string

const (
	gotStart    event = "start"
	gotContinue event = "continue"
	gotCancel   event = "cancel"
	phaseEnded  event = "phase end"
	operated    event = "result"
)

// follow is the whole protocol: what may happen when, and what comes then. An event that is not
// listed is ignored.
var follow = map[moment]map[event]moment{
	initial:  {gotStart: running},
	running:  {phaseEnded: waiting, gotCancel: running, operated: finished},
	waiting:  {gotContinue: running, gotCancel: running, operated: finished},
	finished: {},
}
