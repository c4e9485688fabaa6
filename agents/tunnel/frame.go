package tunnel

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unicode/utf8"
)

// Sizes of the protocol, in bytes.
const (
	MaxPayload    = 16 << 10
	InitialWindow = 64 << 10
	maxWindow     = 1 << 30
	maxTarget     = 255
	maxReason     = 256
	headerSize    = 5
)

// BufferSize fits a whole frame; it is the right size for the buffers of the WebSocket.
const BufferSize = 17 << 10

type frameType byte

const (
	frameOpen   frameType = 1
	frameData   frameType = 2
	frameWindow frameType = 3
	frameFin    frameType = 4
	frameReset  frameType = 5
)

type frame struct {
	kind    frameType
	id      uint32
	payload []byte
}

func (f frame) header() [headerSize]byte {
	var h [headerSize]byte
	h[0] = byte(f.kind)
	binary.BigEndian.PutUint32(h[1:], f.id)
	return h
}

// parseFrame checks what can be checked without knowing the streams. The payload is a part of raw.
func parseFrame(raw []byte) (frame, error) {
	if len(raw) < headerSize {
		return frame{}, fmt.Errorf("frame of %d bytes is shorter than a header", len(raw))
	}
	f := frame{kind: frameType(raw[0]), id: binary.BigEndian.Uint32(raw[1:]), payload: raw[headerSize:]}
	if f.id == 0 {
		return frame{}, errors.New("frame for stream 0")
	}
	n, ok := len(f.payload), false
	switch f.kind {
	case frameOpen:
		ok = n >= 1 && n <= maxTarget && utf8.Valid(f.payload)
	case frameData:
		ok = n >= 1 && n <= MaxPayload
	case frameWindow:
		ok = n == 4
	case frameFin:
		ok = n == 0
	case frameReset:
		ok = n <= maxReason && utf8.Valid(f.payload)
	default:
		return frame{}, fmt.Errorf("frame of unknown type %d", f.kind)
	}
	if !ok {
		return frame{}, fmt.Errorf("frame of type %d with a wrong payload of %d bytes", f.kind, n)
	}
	return f, nil
}

func windowFrame(id, n uint32) frame {
	return frame{frameWindow, id, binary.BigEndian.AppendUint32(nil, n)}
}

func resetFrame(id uint32, reason string) frame {
	if len(reason) > maxReason {
		reason = reason[:maxReason]
	}
	for !utf8.ValidString(reason) { // a rune was cut at the end
		reason = reason[:len(reason)-1]
	}
	return frame{frameReset, id, []byte(reason)}
}
