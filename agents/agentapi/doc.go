// Package agentapi is the contract between Commander and the agent of one managed cluster.
//
// The agent dials out only. It knows one address, https://<commander>/agent_api/<cluster uuid>
// (the base), and one bearer token. Below the base there are three paths:
//
//	GET  <base>/config   what the cluster should hold (Config)
//	POST <base>/report   what the cluster holds (Report)
//	GET  <base>/tunnel   WebSocket that carries streams in the other direction (package tunnel)
//
// Every request carries "Authorization: Bearer <token>" and "User-Agent: commander-agent/<version>".
// A missing, unknown or expired token is answered with 401, a token of another cluster with 403;
// the agent then keeps what it has applied and asks again slowly. Other failures are 4xx or 5xx
// with one line of text for a person; the agent repeats such requests with a growing pause.
//
// # Configuration
//
// The agent sends the ETag of the configuration it holds in If-None-Match and, as ?wait=<seconds>,
// how long it is ready to wait. Commander answers 200 with a Config at once if its ETag differs,
// otherwise as soon as it changes, and 304 without a body when the time is over. Commander may
// answer sooner than asked, because proxies on the way may have a shorter patience; wait is never
// more than MaxWait. On the wire the ETag is quoted as HTTP wants it (QuoteETag, UnquoteETag); a
// weak mark added by a proxy is ignored.
//
// An object that leaves the configuration is deleted from the cluster if its group is controlled,
// and labelled OrphanLabel and kept otherwise. An agent that cannot reach Commander goes on with
// its last configuration, also after its own restart.
//
// # Report
//
// The agent posts a Report every Config.ReportIntervalSeconds, and sooner after it has applied
// something. Each report is complete and replaces the one before. Commander answers 204.
//
// # Tunnel
//
// The agent asks for a WebSocket with the subprotocol TunnelProtocol. After the upgrade both ends
// speak package tunnel; Commander opens streams, the agent serves the target TargetAPIServer. The
// newest connection of a cluster wins: an older one is closed with code 4000 (CloseReplaced). A
// Commander that is going away closes with 1012 and the agent connects again.
//
// The contract changes by adding: unknown JSON fields are ignored by both sides and a missing
// field means its zero value.
package agentapi
