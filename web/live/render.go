package live

import (
	"bytes"
	"context"
	"fmt"

	"commander/internal/fault"
)

// render draws topics for whoever sits before the page now. With an error it returns the topics
// that are left, and the messages of those before.
func (p *page) render(ctx context.Context, topics []string) (messages [][]byte, left []string, err error) {
	select {
	case p.hub.rendering <- struct{}{}:
		defer func() { <-p.hub.rendering }()
	case <-p.stopping:
		p.mark(topics...)
		return nil, nil, nil
	case <-ctx.Done():
		return nil, topics, ctx.Err()
	}
	person, err := p.hub.options.Person(ctx, p.request)
	if err != nil {
		return nil, topics, err
	}
	ctx = p.hub.options.Viewer(ctx, p.request, person)
	for i, topic := range topics {
		p.hub.metrics.renders.Inc()
		components, next, err := p.hub.options.Renderer.Render(ctx, person, topic, p.cursors[topic])
		if fault.Is(err, fault.NotFound) || fault.Is(err, fault.Forbidden) {
			continue
		}
		if err != nil {
			return messages, topics[i:], err
		}
		for _, c := range components {
			var body bytes.Buffer
			if err := c.Render(ctx, &body); err != nil {
				return messages, topics[i:], fmt.Errorf("draw %s: %w", topic, err)
			}
			if body.Len() > 0 {
				messages = append(messages, body.Bytes())
			}
		}
		p.cursors[topic] = next
	}
	return messages, nil, nil
}
