package console

import "net/http"

// Retry queues another attempt of a task.
func (c *Console) Retry(w http.ResponseWriter, r *http.Request) error {
	return startTask(w, r, c.Fleet.Retry)
}

// Stop asks a running task to stop, and cancels one that waits.
func (c *Console) Stop(w http.ResponseWriter, r *http.Request) error {
	return startTask(w, r, c.Fleet.StopTask)
}

// GiveUp closes a lost task as failed.
func (c *Console) GiveUp(w http.ResponseWriter, r *http.Request) error {
	return startTask(w, r, c.Fleet.GiveUp)
}
