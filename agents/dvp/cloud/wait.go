package cloud

import (
	"context"
	"fmt"
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// rewatchPause is before a watch that ended is begun anew.
const rewatchPause = 500 * time.Millisecond

// watchBound is how long a watch may last, in seconds, before the object is read anew: nothing tells
// of a watch that the API server has forgotten.
const watchBound int64 = 60

// await watches the object of a name until done says so or fails. The object's end is an error of
// kind NotFound. While DVP is unreachable it goes on; when the context ends, the error tells what
// the last answer was.
func await[T client.Object](ctx context.Context, c *Cloud, object T, list client.ObjectList, done func(T) (bool, error)) error {
	name := object.GetName()
	pause := time.NewTimer(0)
	defer pause.Stop()
	for last := error(nil); ; pause.Reset(rewatchPause) {
		select {
		case <-ctx.Done():
			return late(ctx, object, last)
		case <-pause.C:
		}
		object.SetName(name)
		if last = c.read(ctx, object); Is(last, Unreachable) {
			continue
		} else if last != nil {
			return last
		}
		if ok, err := done(object); ok || err != nil {
			return err
		}
		ended, err := follow(ctx, c, object, list, done)
		if ended || err != nil {
			return err
		}
	}
}

// follow watches from the state that was read on. It returns false without an error when the watch
// ended before anything was decided.
func follow[T client.Object](ctx context.Context, c *Cloud, object T, list client.ObjectList, done func(T) (bool, error)) (bool, error) {
	w, err := c.client.Watch(ctx, list, &client.ListOptions{
		Namespace: c.namespace, FieldSelector: fields.OneTermEqualSelector("metadata.name", object.GetName()),
		// Without the version, a deletion between the read and the watch would never be told.
		Raw: &metav1.ListOptions{ResourceVersion: object.GetResourceVersion(), TimeoutSeconds: new(watchBound)},
	})
	if err != nil {
		return false, nil //nolint:nilerr // the next read tells why, if it goes on
	}
	defer w.Stop()
	for event := range w.ResultChan() {
		now, ok := event.Object.(T)
		if !ok { // an error of the watch
			return false, nil
		}
		if event.Type == watch.Deleted {
			kind, _ := resourceOf(object)
			return true, failf(NotFound, fmt.Sprintf("wait for %s %q", kind, object.GetName()), "it was deleted")
		}
		reflect.ValueOf(object).Elem().Set(reflect.ValueOf(now).Elem()) // the caller goes on with what was decided on
		if ok, err := done(now); ok || err != nil {
			return true, err
		}
	}
	return false, nil
}

func late(ctx context.Context, object client.Object, last error) error {
	kind, _ := resourceOf(object)
	doing := fmt.Sprintf("wait for %s %q", kind, object.GetName())
	if last != nil {
		return &Error{Unreachable, doing, fmt.Errorf("%w; the last answer was: %w", context.Cause(ctx), last)}
	}
	return &Error{Unreachable, doing, context.Cause(ctx)}
}

// awaitGone waits until the object with this uid does not exist.
func awaitGone[T client.Object](ctx context.Context, c *Cloud, object T, list client.ObjectList) error {
	uid := object.GetUID()
	err := await(ctx, c, object, list, func(now T) (bool, error) { return now.GetUID() != uid, nil })
	if Is(err, NotFound) {
		return nil
	}
	return err
}
