package simulation

import "strings"

// progress is an engine's state: the phases that are done, by task, a line for each.
type progress []doneFor

// doneFor are the phases that are done for a task.
type doneFor struct {
	task   string
	phases []string
}

func readProgress(body []byte) (p progress) {
	for line := range strings.Lines(string(body)) {
		words := strings.Fields(line)
		p = append(p, doneFor{words[0], words[1:]})
	}
	return p
}

// state is what the engine wants to be kept.
func (o *operation) state() []byte {
	var b []byte
	for _, of := range o.before {
		b = appendLine(b, of.task, of.phases)
	}
	return appendLine(b, o.task(), o.done)
}

func appendLine(b []byte, task string, phases []string) []byte {
	b = append(b, task...)
	for _, phase := range phases {
		b = append(append(b, ' '), phase...)
	}
	return append(b, '\n')
}

// task names what the phases in the state belong to: another task does its own.
func (o *operation) task() string { return o.delivery.TaskID.String() }
