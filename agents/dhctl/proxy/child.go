package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
)

// startLimit is how long a child may take until it serves.
const startLimit = 30 * time.Second

// maxMessage bounds one message: a state of many machines is far smaller.
const maxMessage = 64 << 20

// child is a process with one operation in it.
type child struct {
	cmd    *exec.Cmd
	alive  io.Closer // the child's standard input, which ends with us, however we end
	conn   *grpc.ClientConn
	dir    string
	grace  time.Duration
	exited chan struct{} // closed when the process was waited for
}

// start starts a child and waits until it serves.
func (p *Proxy) start(ctx context.Context) (*child, error) {
	dir, err := os.MkdirTemp(p.Dir, "op-")
	if err != nil {
		return nil, fmt.Errorf("make folder of child: %w", err)
	}
	socket := filepath.Join(dir, "s")
	c := &child{cmd: p.Command(dir, socket), dir: dir, grace: p.Grace, exited: make(chan struct{})}
	// Signals to the parent's group, such as Ctrl-C, must not reach an operation at work.
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.cmd.WaitDelay = time.Second
	if c.alive, err = c.cmd.StdinPipe(); err == nil {
		err = c.cmd.Start()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start child: %w", err), os.RemoveAll(dir))
	}
	p.all.Go(func() {
		err := c.cmd.Wait()
		p.Log.Info("child ended", "pid", c.cmd.Process.Pid, "error", errorText(err))
		close(c.exited)
	})
	if err := c.connect(ctx, socket); err != nil {
		c.end()
		return nil, err
	}
	return c, nil
}

func (c *child) connect(ctx context.Context, socket string) (err error) {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	go func() {
		select {
		case <-c.exited:
			cancel()
		case <-ctx.Done():
		}
	}()
	c.conn, err = grpc.NewClient("unix:"+socket,
		grpc.WithTransportCredentials(insecure.NewCredentials()), // the socket is in a folder of ours alone
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 10 * time.Millisecond, Multiplier: 1.3, MaxDelay: 200 * time.Millisecond},
			MinConnectTimeout: time.Second,
		}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage)))
	if err != nil {
		return fmt.Errorf("dial child: %w", err)
	}
	r, err := grpc_health_v1.NewHealthClient(c.conn).Check(ctx, &grpc_health_v1.HealthCheckRequest{}, grpc.WaitForReady(true))
	if err != nil {
		select {
		case <-c.exited:
			err = errors.New("it ended at once; the log of the server says why")
		default:
		}
		return fmt.Errorf("wait for child: %w", err)
	}
	if r.GetStatus() != grpc_health_v1.HealthCheckResponse_SERVING {
		return fmt.Errorf("wait for child: it is %s", r.GetStatus())
	}
	return nil
}

// end tells the child to end, kills it with all its descendants when it does not, and returns
// when it is gone.
func (c *child) end() {
	_ = c.alive.Close() // a child that is gone already closed the other side
	patience := time.NewTimer(c.grace)
	defer patience.Stop()
	select {
	case <-c.exited:
	case <-patience.C:
		// The process was not waited for, so that its id is still its own.
		_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL)
		<-c.exited
	}
	if c.conn != nil {
		_ = c.conn.Close()
	}
	_ = os.RemoveAll(c.dir) // state was handed to the caller; a leftover is removed with the parent's folder
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
