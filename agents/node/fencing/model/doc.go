// Package model runs the agreement between fencing agents and the fencing controller under invented
// time and faults. What decides is production's: the agents tick for tick, and the controller's sight
// and judgement; only the network, the API server and the machines are played. It holds tests alone.
//
// What is shown: whenever the controller releases a node, the node was reset before. And when the API
// server is away for everybody, for however long, no node is reset or released.
//
// What is not covered: a machine that is stopped as a whole together with its watchdog, as a paused
// virtual machine with a software watchdog is. It would go on where it stopped.
package model
