package emulator

import (
	"fmt"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
)

// progress is how far a step has come, as DVP writes it: never 100% before the end.
func progress(left, took time.Duration) string {
	return fmt.Sprintf("%d%%", min(99, max(0, int(100*(took-left)/took))))
}

// step asks for a look at the next tenth of a step, so that its progress is seen to rise.
func step(left, took time.Duration) ctrl.Result {
	return again(min(left, max(took/10, time.Millisecond)))
}
