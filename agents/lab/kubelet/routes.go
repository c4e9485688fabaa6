package kubelet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"k8s.io/cri-streaming/pkg/streaming/portforward"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	utilexec "k8s.io/utils/exec"
)

// Limits of streams, as kubelets have them.
const (
	idleLimit   = 4 * time.Hour
	createLimit = 30 * time.Second
)

// routes are the addresses of a kubelet that the API server uses for pods. The API server has
// checked by then that the pod and the container exist and that the person may do this.
func routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") })
	mux.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", logs)
	for _, prefix := range []string{"/exec/{namespace}/{pod}/", "/exec/{namespace}/{pod}/{uid}/"} {
		mux.HandleFunc(prefix+"{container}", exec)
	}
	for _, prefix := range []string{"/attach/{namespace}/{pod}/", "/attach/{namespace}/{pod}/{uid}/"} {
		mux.HandleFunc(prefix+"{container}", attach)
	}
	mux.HandleFunc("/portForward/{namespace}/{pod}", forward)
	mux.HandleFunc("/portForward/{namespace}/{pod}/{uid}", forward)
	return mux
}

func exec(w http.ResponseWriter, r *http.Request) {
	options, err := remotecommand.NewOptions(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	remotecommand.ServeExec(w, r, containerOf(r), r.PathValue("pod"), r.PathValue("uid"), r.PathValue("container"),
		r.URL.Query()["command"], options, idleLimit, createLimit, remotecommand.SupportedStreamingProtocols)
}

func attach(w http.ResponseWriter, r *http.Request) {
	options, err := remotecommand.NewOptions(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	remotecommand.ServeAttach(w, r, containerOf(r), r.PathValue("pod"), r.PathValue("uid"), r.PathValue("container"),
		options, idleLimit, createLimit, remotecommand.SupportedStreamingProtocols)
}

func forward(w http.ResponseWriter, r *http.Request) {
	options, err := portforward.NewV4Options(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	portforward.ServePortForward(w, r, containerOf(r), r.PathValue("pod"), r.PathValue("uid"),
		options, idleLimit, createLimit, portforward.SupportedProtocols)
}

// container is one that is played.
type container struct{ namespace, pod, name string }

func containerOf(r *http.Request) container {
	return container{r.PathValue("namespace"), r.PathValue("pod"), r.PathValue("container")}
}

// ExecInContainer gives the command to the built-in shell.
func (c container) ExecInContainer(ctx context.Context, _, _, _ string, command []string, in io.Reader, out, errs io.WriteCloser, tty bool, _ <-chan remotecommand.TerminalSize, _ time.Duration) error {
	if errs == nil { // with a terminal there is one stream for both
		errs = out
	}
	code := newShell(c, in, out, errs, tty).run(ctx, command)
	if code != 0 {
		return utilexec.CodeExitError{Err: fmt.Errorf("exit status %d", code), Code: code}
	}
	return nil
}

// AttachContainer shows what logs -f shows.
func (c container) AttachContainer(ctx context.Context, _, _, _ string, _ io.Reader, out, _ io.WriteCloser, _ bool, _ <-chan remotecommand.TerminalSize) error {
	if out == nil {
		return errors.New("attach without output: a played container reads nothing")
	}
	return follow(ctx, out, c, false)
}

// PortForward lets the built-in web server answer, whatever the port.
func (c container) PortForward(_ context.Context, _, _ string, port int32, stream io.ReadWriteCloser) error {
	defer stream.Close()
	return respond(stream, c, port)
}
