// Package simulation runs the task machine under invented time and invented faults. The rules, the
// worker and the task checker are production's own; what is invented is what they stand on: the
// database behind store.Querier, the queue, the engine, the clocks, the processes and the people.
//
// Everything that happens is decided by a seed: how long each step takes, who dies, freezes or sees
// a wrong clock, when the database is away or breaks a connection before or after a commit. Time is
// that of a testing/synctest bubble. Every wait has a length of its own to the nanosecond, so that
// one thing happens at a time and a seed repeats.
//
// Run has the database in memory, Server.Run has PostgreSQL with the bubble's time; both end alike.
// Planted lists mistakes that the schedules must find. docs/simulation.md says how to read a failure.
package simulation
