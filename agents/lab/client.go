package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
)

// Client asks the daemon on a unix socket. Errors that the daemon reports are *Problem.
type Client struct {
	http   *http.Client
	socket string
}

// NewClient makes a client of the daemon that listens on the socket. It connects when it is used.
func NewClient(socket string) *Client {
	dialer := &net.Dialer{}
	return &Client{socket: socket, http: &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, "unix", socket)
		},
	}}}
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// EnsureControlPlane makes the control plane of a cluster, or upgrades it, and returns when it is
// ready. log gets lines for people; it may be nil. Other subnets than the cluster was made with,
// an older version and a jump over a version are Conflicts.
func (c *Client) EnsureControlPlane(ctx context.Context, id string, want ControlPlane, log func(string)) error {
	return c.stream(ctx, http.MethodPut, id, "/control-plane", want, log)
}

// EnsureNodes makes, changes and removes nodes, and returns when those wanted are ready.
func (c *Client) EnsureNodes(ctx context.Context, id string, want Nodes, log func(string)) error {
	return c.stream(ctx, http.MethodPut, id, "/nodes", want, log)
}

// EnsureAgent runs a commander-agent for the cluster and returns when it is started.
func (c *Client) EnsureAgent(ctx context.Context, id string, want Agent, log func(string)) error {
	return c.stream(ctx, http.MethodPut, id, "/agent", want, log)
}

// StopAgent ends the commander-agent of the cluster and forgets its token.
func (c *Client) StopAgent(ctx context.Context, id string) error {
	return c.stream(ctx, http.MethodDelete, id, "/agent", nil, nil)
}

// EnsureGuestAgent runs a commander-agent for a cluster that is not the lab's.
func (c *Client) EnsureGuestAgent(ctx context.Context, id string, want Guest, log func(string)) error {
	return c.send(ctx, http.MethodPut, "/guests/"+url.PathEscape(id)+"/agent", want, log)
}

// StopGuestAgent ends it and forgets the guest. One that is not there is no error.
func (c *Client) StopGuestAgent(ctx context.Context, id string) error {
	return c.send(ctx, http.MethodDelete, "/guests/"+url.PathEscape(id)+"/agent", nil, nil)
}

// Delete ends all processes of the cluster and removes all its files. A cluster that is not there
// is no error.
func (c *Client) Delete(ctx context.Context, id string, log func(string)) error {
	return c.stream(ctx, http.MethodDelete, id, "", nil, log)
}

// State tells what there is of a cluster; nothing is no error but State.Exists false.
func (c *Client) State(ctx context.Context, id string) (State, error) {
	var s State
	return s, c.answer(ctx, "/clusters/"+url.PathEscape(id), &s)
}

// Kubeconfig is an administrator's way into the cluster. Its address is good until the daemon has
// to start the API server on another port, so it is not for keeping.
func (c *Client) Kubeconfig(ctx context.Context, id string) ([]byte, error) {
	var kubeconfig []byte
	return kubeconfig, c.answer(ctx, "/clusters/"+url.PathEscape(id)+"/kubeconfig", &kubeconfig)
}

// List gives the ids of all clusters.
func (c *Client) List(ctx context.Context) ([]string, error) {
	var ids []string
	return ids, c.answer(ctx, "/clusters", &ids)
}

// Ping asks whether the daemon is there.
func (c *Client) Ping(ctx context.Context) error {
	var nothing struct{}
	return c.answer(ctx, "/healthz", &nothing)
}

func (c *Client) do(ctx context.Context, method, path string, body any) (*http.Response, error) {
	var content io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("write request to the lab: %w", err)
		}
		content = bytes.NewReader(raw)
	}
	request, err := http.NewRequestWithContext(ctx, method, "http://lab"+path, content)
	if err != nil {
		return nil, fmt.Errorf("make request to the lab: %w", err)
	}
	answer, err := c.http.Do(request)
	if err != nil {
		return nil, fmt.Errorf("ask the lab daemon at %s: %w", c.socket, err)
	}
	if answer.StatusCode == http.StatusOK {
		return answer, nil
	}
	defer answer.Body.Close()
	var problem Problem
	if err := json.NewDecoder(answer.Body).Decode(&problem); err != nil || problem.Message == "" {
		return nil, fmt.Errorf("ask the lab daemon: %s", answer.Status)
	}
	return nil, &problem
}

func (c *Client) answer(ctx context.Context, path string, into any) error {
	answer, err := c.do(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if err := json.NewDecoder(answer.Body).Decode(into); err != nil {
		return fmt.Errorf("read answer of the lab: %w", err)
	}
	return nil
}

// stream hands lines on until the last one.
func (c *Client) stream(ctx context.Context, method, id, part string, body any, log func(string)) error {
	return c.send(ctx, method, "/clusters/"+url.PathEscape(id)+part, body, log)
}

// send asks and passes on the lines of the answer until its end.
func (c *Client) send(ctx context.Context, method, path string, body any, log func(string)) error {
	answer, err := c.do(ctx, method, path, body)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	for lines := json.NewDecoder(answer.Body); ; {
		var line Line
		if err := lines.Decode(&line); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF // the daemon ended in the middle
			}
			return fmt.Errorf("follow the lab: %w", err)
		}
		switch {
		case line.Problem != nil:
			return line.Problem
		case line.Done:
			return nil
		case log != nil:
			log(line.Message)
		}
	}
}
