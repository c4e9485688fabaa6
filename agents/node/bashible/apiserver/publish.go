package apiserver

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/node/api"
	"commander/agents/node/bashible/input"
	"commander/agents/node/bashible/render"
)

// manualPrefix begins the name of the Secret with the script by which a bare machine joins a group.
const manualPrefix = "manual-bootstrap-for-"

// Publisher tells the cluster what was rendered: the checksum of each group, by which nodes and
// node-controller know who is up to date, the functions of the steps, and the scripts for machines.
type Publisher struct{ Client client.Client }

// Publish writes what differs from what is there. Checksums come last: who sees one finds the rest.
func (p Publisher) Publish(ctx context.Context, all render.Everything) error {
	var failed []error
	failed = append(failed, p.write(ctx, render.LibrarySecret, map[string]string{render.LibraryKey: all.Library}))
	for name, group := range all.Groups {
		failed = append(failed, p.write(ctx, manualPrefix+name, map[string]string{"bootstrap.sh": group.Prerequisites}))
	}
	if err := errors.Join(failed...); err != nil {
		return err
	}
	return p.write(ctx, api.ChecksumsSecret, all.Checksums())
}

// write makes the Secret hold exactly these values.
func (p Publisher) write(ctx context.Context, name string, values map[string]string) error {
	data := make(map[string][]byte, len(values))
	for key, value := range values {
		data[key] = []byte(value)
	}
	err := retry.OnError(retry.DefaultRetry, func(err error) bool { return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) }, func() error {
		secret := new(corev1.Secret)
		err := p.Client.Get(ctx, client.ObjectKey{Namespace: api.Namespace, Name: name}, secret)
		if apierrors.IsNotFound(err) {
			return p.Client.Create(ctx, &corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Namespace: api.Namespace, Name: name, Labels: map[string]string{"app": input.App}},
				Data:       data,
			})
		}
		if err != nil || equality.Semantic.DeepEqual(secret.Data, data) {
			return err
		}
		secret.Data = data
		return p.Client.Update(ctx, secret)
	})
	if err != nil {
		return fmt.Errorf("write secret %s: %w", name, err)
	}
	return nil
}
