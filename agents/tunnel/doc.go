// Package tunnel is the contract of the tunnel: one WebSocket that carries many byte streams, so
// that Commander reaches services of a cluster that only dials out.
//
// Each binary WebSocket message is one frame; there are no text messages. A frame is
//
//	byte 0     type
//	bytes 1-4  stream id, big endian, never 0
//	bytes 5-   payload
//
//	1 open    target name, 1 to 255 bytes of UTF-8; its bytes are all the acceptor learns
//	2 data    1 to 16384 bytes (MaxPayload)
//	3 window  4 bytes, big endian: how many more bytes of data the sender of this frame will take
//	4 fin     no payload; the sender of this frame sends no more data
//	5 reset   up to 256 bytes of UTF-8, a reason for people; the stream is over for both ends
//
// Ids. Either end may open streams: the end that dialed with odd ids, the other with even ids, each
// time with a larger id than before. An id is never used twice in a session. Frames for an id that
// was opened and is forgotten are ignored, because they may have crossed a reset; frames for an id
// that was never opened are a violation.
//
// Flow control. Each direction of a stream begins with a window of 65536 bytes (InitialWindow); data
// uses it up and window frames add to it, up to 2^30. A receiver holds at most one window of bytes a
// stream, so a slow reader stops its own stream and no other. Only data counts.
//
// End. A stream is over when both ends have sent fin, or one has sent reset. Data before a fin can
// be read even if a reset follows, so fin and reset together mean: this was everything, and nothing
// more is listened to. An end that does not want an offered stream (unknown target, too many
// streams) answers with reset.
//
// Liveness. Both ends send WebSocket pings; a session without any message for Options.SilenceLimit
// is dead. A message that cannot be written within Options.WriteLimit ends the session, too.
//
// Violations of any of the above end the session with close code 1002 and a reason. A session ends
// with all its streams; whoever dialed connects again.
package tunnel
