// Package connector is Commander's end of the tunnel of one cluster: it takes the WebSocket that
// Commander's web role hands over from the agent, and offers the cluster's API server on a unix
// socket.
//
// A directory belongs to one connector and holds
//
//	lock             flock of the living connector, with its process id inside
//	tunnel.sock      HTTP: GET /healthz (Health) and the WebSocket upgrade on /tunnel
//	api-server.sock  plain HTTP/1.1 to the managed cluster's API server, upgrades included
//
// Whoever can open the sockets is trusted: they are 0600 in a 0700 directory, and the web role
// checks the agent's token and the person's rights before it dials.
package connector
