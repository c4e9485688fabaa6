package discoverer

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"commander/agents/dvp/cloud"
)

// Where the data is, in the managed cluster.
const (
	namespace  = "kube-system"
	secretName = "d8-cloud-provider-discovery-data"
	secretKey  = "discovery-data.json"
	// What the cluster was installed with; clusters of mixed origin have none.
	seedName = "d8-provider-cluster-configuration"
	seedKey  = "cloud-provider-discovery-data.json"
)

const (
	// callBound is how long a request to the managed cluster may take.
	callBound = 10 * time.Second
	// Attempts and Pause are how often and how soon a write is tried anew: an API server is back
	// after an update of its node in less than their product.
	Attempts = 15
	Pause    = 3 * time.Second
	// soon is when a cycle that failed is done again, if that is sooner than the period.
	soon = time.Minute
)

// Discoverer keeps the data of one cluster.
type Discoverer struct {
	Cloud  *cloud.Cloud
	Client kubernetes.Interface // of the managed cluster
	Period time.Duration        // from one look to the next
	Pause  time.Duration        // between two attempts to write
	Log    *slog.Logger
	Offer  *Offer // nil where storage classes are somebody else's

	cloudError  *prometheus.GaugeVec
	updateError prometheus.Gauge
}

// Register makes the metrics known. Names and labels are those that alerts of Deckhouse ask for.
func (d *Discoverer) Register(registry prometheus.Registerer) error {
	d.cloudError = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "cloud_data_discovery_cloud_request_error", Help: "1 while what DVP offers cannot be read.",
	}, []string{"type"})
	d.updateError = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "cloud_data_discovery_update_resource_error", Help: "1 while what DVP offers cannot be written into the cluster.",
	})
	for _, c := range []prometheus.Collector{d.cloudError, d.updateError} {
		if err := registry.Register(c); err != nil {
			return fmt.Errorf("register metrics: %w", err)
		}
	}
	return nil
}

// Run looks at once and then with every period, until the context ends.
func (d *Discoverer) Run(ctx context.Context) error {
	for {
		wait := d.Period
		if err := d.cycle(ctx); err != nil && ctx.Err() == nil {
			d.Log.ErrorContext(ctx, "discovery failed", "error", err)
			wait = min(wait, soon)
		}
		if d.Offer != nil { // by what was written before, if nothing was now
			if err := d.Offer.Sync(ctx); err != nil && ctx.Err() == nil {
				d.Log.ErrorContext(ctx, "storage classes are not as they shall be", "error", err)
				wait = min(wait, soon)
			}
		}
		if !sleep(ctx, wait) {
			return nil
		}
	}
}

// sleep is false if the context ended.
func sleep(ctx context.Context, how time.Duration) bool {
	timer := time.NewTimer(how)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// cycle reads what DVP offers and writes it.
func (d *Discoverer) cycle(ctx context.Context) error {
	classes, err := d.Cloud.StorageClasses(ctx)
	failing := d.cloudError.WithLabelValues("discovery_data")
	if err != nil {
		failing.Set(1)
		return err
	}
	failing.Set(0)
	for attempt := 1; ; attempt++ {
		changed, err := d.write(ctx, func(before Data) Data { return merge(before, classes) })
		if err == nil {
			d.updateError.Set(0)
			if changed {
				d.Log.InfoContext(ctx, "discovery data changed", "classes", len(classes))
			}
			return nil
		}
		if attempt == Attempts || !sleep(ctx, d.Pause) {
			d.updateError.Set(1)
			return err
		}
	}
}

// write replaces the data that is there, unless it is the same.
func (d *Discoverer) write(ctx context.Context, next func(Data) Data) (changed bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, callBound)
	defer cancel()
	secrets := d.Client.CoreV1().Secrets(namespace)
	secret, err := secrets.Get(ctx, secretName, metav1.GetOptions{})
	absent := apierrors.IsNotFound(err)
	if err != nil && !absent {
		return false, fmt.Errorf("read Secret %s: %w", secretName, err)
	}
	before, err := d.before(ctx, secret.Data[secretKey])
	if err != nil {
		return false, err
	}
	text, err := json.Marshal(next(before))
	if err != nil {
		return false, fmt.Errorf("write discovery data: %w", err)
	}
	if err := Check(text); err != nil {
		return false, fmt.Errorf("write discovery data: %w", err)
	}
	if bytes.Equal(text, secret.Data[secretKey]) {
		return false, nil
	}
	if absent {
		_, err = secrets.Create(ctx, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: secretName, Labels: map[string]string{"heritage": "deckhouse", "module": "cloud-provider-dvp"}},
			Data:       map[string][]byte{secretKey: text},
		}, metav1.CreateOptions{})
	} else {
		if secret.Data == nil {
			secret.Data = map[string][]byte{}
		}
		secret.Data[secretKey] = text
		_, err = secrets.Update(ctx, secret, metav1.UpdateOptions{}) // with the version that was read
	}
	if err != nil {
		return false, fmt.Errorf("write Secret %s: %w", secretName, err)
	}
	return true, nil
}

// before is the data to start from: what is written, else what the cluster was installed with.
func (d *Discoverer) before(ctx context.Context, written []byte) (Data, error) {
	data, err := parse(written)
	if err == nil && len(data.Zones) > 0 {
		return data, nil
	}
	if err != nil { // by whom ever: it is made anew
		d.Log.WarnContext(ctx, "discovery data is replaced", "error", err)
	}
	seed, err := d.Client.CoreV1().Secrets(namespace).Get(ctx, seedName, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return Data{}, nil
	case err != nil:
		return Data{}, fmt.Errorf("read Secret %s: %w", seedName, err)
	}
	if data, err = parse(seed.Data[seedKey]); err != nil {
		return Data{}, fmt.Errorf("key %s of Secret %s/%s: %w", seedKey, namespace, seedName, err)
	}
	return data, nil
}
