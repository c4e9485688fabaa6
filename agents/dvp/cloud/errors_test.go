package cloud

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestWhatAnAnswerMeans(t *testing.T) {
	t.Parallel()
	disks := schema.GroupResource{Group: "virtualization.deckhouse.io", Resource: "virtualdisks"}
	machines := schema.GroupResource{Group: "virtualization.deckhouse.io", Resource: "virtualmachines"}
	for name, c := range map[string]struct {
		answer error
		want   Kind
	}{
		"this disk is not there":       {apierrors.NewNotFound(disks, "a"), NotFound},
		"another disk is not there":    {apierrors.NewNotFound(disks, "b"), Unreachable},
		"a machine of the name is not": {apierrors.NewNotFound(machines, "a"), Unreachable},
		"the page of a proxy":          {apierrors.NewGenericServerResponse(http.StatusNotFound, "get", disks, "a", "<html>", 0, true), Unreachable},
		"made by somebody else":        {apierrors.NewAlreadyExists(disks, "a"), Conflict},
		"changed by somebody else":     {apierrors.NewConflict(disks, "a", errors.New("modified")), Conflict},
		"quota":                        {apierrors.NewForbidden(disks, "a", errors.New("exceeded quota: q, requested: requests.storage=5Gi")), Quota},
		"no right":                     {apierrors.NewForbidden(disks, "a", errors.New("cannot get")), Forbidden},
		"no identity":                  {apierrors.NewUnauthorized("who?"), Forbidden},
		"a webhook says no":            {apierrors.NewForbidden(disks, "a", errors.New(`admission webhook "x" denied the request: no`)), Invalid},
		"too many requests":            {apierrors.NewTooManyRequests("later", 1), Unreachable},
		"internal error":               {apierrors.NewInternalError(errors.New("etcd")), Unreachable},
		"time is over":                 {context.DeadlineExceeded, Unreachable},
	} {
		err := judge(c.answer, "read", "virtualdisks", "a")
		if got := KindOf(fmt.Errorf("around: %w", err)); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
		if !errors.Is(err, c.answer) {
			t.Errorf("%s: the cause is hidden", name)
		}
	}
	if KindOf(nil) != "" || KindOf(errors.New("other")) != Unreachable {
		t.Error("nil has a kind, or a foreign error is not unreachable")
	}
}

// Only NotFound twice is gone.
func TestGone(t *testing.T) {
	t.Parallel()
	absent, unknown := failf(NotFound, "read", "no"), failf(Unreachable, "read", "no")
	for name, c := range map[string]struct {
		answers []error
		gone    bool
		err     error
	}{
		"twice absent":        {[]error{absent, absent}, true, nil},
		"there":               {[]error{nil}, false, nil},
		"absent, then there":  {[]error{absent, nil}, false, nil},
		"unknown":             {[]error{unknown}, false, unknown},
		"absent, and unknown": {[]error{absent, unknown}, false, unknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			left := c.answers
			gone, err := Gone(t.Context(), func(context.Context) error {
				answer := left[0]
				left = left[1:]
				return answer
			})
			if gone != c.gone || !errors.Is(err, c.err) || len(left) > 0 {
				t.Errorf("got %v, %v with %d questions left, want %v, %v", gone, err, len(left), c.gone, c.err)
			}
		})
	}
}

const kubeconfig = `
apiVersion: v1
kind: Config
current-context: dvp
clusters: [{name: dvp, cluster: {server: "https://127.0.0.1:6443"}}]
contexts: [{name: dvp, context: {cluster: dvp, user: u}}]
users: [{name: u, user: {token: t}}]
`

func TestKubeconfigAsTextOrBase64(t *testing.T) {
	t.Parallel()
	encoded := base64.StdEncoding.EncodeToString([]byte(kubeconfig))
	for name, value := range map[string]string{"text": kubeconfig, "Base64": encoded, "Base64 in lines": encoded[:60] + "\n" + encoded[60:] + "\n"} {
		config, err := ParseKubeconfig(value)
		if err != nil || config.Host != "https://127.0.0.1:6443" || config.BearerToken != "t" || config.QPS >= 0 {
			t.Errorf("%s: got %v, %v", name, config, err)
		}
	}
	for name, value := range map[string]string{
		"nothing":      "",
		"nonsense":     "{",
		"names a file": strings.Replace(kubeconfig, "token: t", "tokenFile: /etc/shadow", 1),
	} {
		if config, err := ParseKubeconfig(value); err == nil {
			t.Errorf("%s: got %v, want an error", name, config)
		}
	}
}
