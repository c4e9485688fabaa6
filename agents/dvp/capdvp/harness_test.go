package capdvp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"commander/agents/dvp/api/infrastructure"
	"commander/agents/dvp/api/infrastructure/v1alpha1"
	"commander/agents/dvp/api/virtualization/v1alpha2"
	"commander/agents/dvp/capdvp/capitest"
	"commander/agents/dvp/cloud"
	"commander/agents/dvp/emulator/emulatortest"
	"commander/internal/clock"
)

const uuid = "11111111-2222-3333-4444-555555555555"

// bed is a namespace of Cluster API with our controllers, and a project of DVP. The test plays
// Cluster API's own controllers.
type bed struct {
	client.Client // of the cluster
	t             *testing.T
	dvp           *emulatortest.DVP
	namespace     string
	provider      *Provider
	refuse        atomic.Bool // all requests to DVP
	refused       atomic.Int64
	reads, writes atomic.Int64 // requests to DVP
}

type through func(*http.Request) (*http.Response, error)

func (f through) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

var installed sync.Mutex // one test installs the kinds, the others find them

func newBed(t *testing.T, changes ...func(*Provider)) *bed {
	t.Helper()
	return newBedThrough(t, func(access *rest.Config) *rest.Config { return access }, changes...)
}

// newBedThrough is newBed with another way to DVP.
func newBedThrough(t *testing.T, way func(*rest.Config) *rest.Config, changes ...func(*Provider)) *bed {
	t.Helper()
	b := furnish(t)
	config := rest.CopyConfig(way(b.dvp.Access))
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return through(func(r *http.Request) (*http.Response, error) {
			if b.refuse.Load() {
				b.refused.Add(1)
				return nil, fmt.Errorf("refused by the test")
			}
			if r.Method == http.MethodGet {
				b.reads.Add(1)
			} else {
				b.writes.Add(1)
			}
			return next.RoundTrip(r)
		})
	})
	c, err := cloud.New(config, b.dvp.Namespace, uuid)
	if err != nil {
		t.Fatal(err)
	}
	manager, err := newManager(b.dvp.Config, b.Scheme(), b.namespace)
	if err != nil {
		t.Fatal(err)
	}
	b.provider = &Provider{
		Client: manager.GetClient(), Config: b.dvp.Config, Cloud: c, Clock: clock.System{}, Events: manager.GetEventRecorder("capdvp"),
		Poll: 50 * time.Millisecond, Patience: time.Hour, Workers: 4,
	}
	for _, change := range changes {
		change(b.provider)
	}
	if err := b.provider.Setup(manager); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("stop controllers: %v", err)
		}
	})
	return b
}

// furnish makes what a bed is, without our controllers.
func furnish(t *testing.T) *bed {
	t.Helper()
	b := &bed{t: t, dvp: emulatortest.Start(t)}
	scheme, err := schemeOf()
	if err != nil {
		t.Fatal(err)
	}
	if b.Client, err = client.New(b.dvp.Config, client.Options{Scheme: scheme}); err != nil {
		t.Fatal(err)
	}
	b.install()
	space := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "capi-"}}
	if err := b.Create(t.Context(), space); err != nil {
		t.Fatal(err)
	}
	b.namespace = space.Name
	return b
}

// newManager is that of controllers that look at one namespace.
func newManager(config *rest.Config, scheme *runtime.Scheme, namespace string) (ctrl.Manager, error) {
	return ctrl.NewManager(config, ctrl.Options{
		Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"}, Cache: cache.Options{DefaultNamespaces: map[string]cache.Config{namespace: {}}},
		Controller: ctrlconfig.Controller{SkipNameValidation: new(true)},
	})
}

// schemeOf knows what our controllers and the tests read.
func schemeOf() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme, apiextensionsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	return scheme, nil
}

// install makes our kinds, and Cluster API's as far as they are read.
func (b *bed) install() {
	b.t.Helper()
	installed.Lock()
	defer installed.Unlock()
	all, err := infrastructure.Definitions()
	if err != nil {
		b.t.Fatal(err)
	}
	for plural, kind := range map[string]string{"clusters": "Cluster", "machines": "Machine"} {
		all = append(all, &apiextensionsv1.CustomResourceDefinition{
			ObjectMeta: metav1.ObjectMeta{Name: plural + "." + capiGroup},
			Spec: apiextensionsv1.CustomResourceDefinitionSpec{
				Group: capiGroup, Scope: apiextensionsv1.NamespaceScoped, Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: plural, Kind: kind},
				Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
					Name: "v1beta2", Served: true, Storage: true,
					Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: new(true)}},
				}},
			},
		})
	}
	for _, crd := range all {
		if err := b.Create(b.t.Context(), crd); err != nil && !apierrors.IsAlreadyExists(err) {
			b.t.Fatal(err)
		}
		capitest.Established(b.t, b, crd)
	}
}

// capi makes an object of Cluster API.
func (b *bed) capi(kind, name, content string) *unstructured.Unstructured {
	b.t.Helper()
	o := capiObject(kind)
	if err := json.Unmarshal([]byte(content), &o.Object); err != nil {
		b.t.Fatal(err)
	}
	o.SetGroupVersionKind(capiKind(kind))
	o.SetNamespace(b.namespace)
	o.SetName(name)
	if err := b.Create(b.t.Context(), o); err != nil {
		b.t.Fatal(err)
	}
	return o
}

func owner(o *unstructured.Unstructured) []metav1.OwnerReference {
	return []metav1.OwnerReference{{APIVersion: o.GetAPIVersion(), Kind: o.GetKind(), Name: o.GetName(), UID: o.GetUID(), Controller: new(true)}}
}

// cluster makes a Cluster whose infrastructure is ready.
func (b *bed) cluster() *unstructured.Unstructured {
	return b.capi("Cluster", "c", `{"spec":{"infrastructureRef":{"apiGroup":"infrastructure.cluster.x-k8s.io","kind":"DeckhouseCluster","name":"c"}},"status":{"initialization":{"infrastructureProvisioned":true}}}`)
}

// script makes bootstrap data.
func (b *bed) script(name, key string) {
	b.t.Helper()
	if err := b.Create(b.t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: name}, Data: map[string][]byte{key: []byte("#cloud-config")}}); err != nil {
		b.t.Fatal(err)
	}
}

// machine makes a Machine with our object for it, as a MachineSet does.
func (b *bed) machine(name, bootstrap string, change func(*v1alpha1.DeckhouseMachine)) *v1alpha1.DeckhouseMachine {
	b.t.Helper()
	content := fmt.Sprintf(`{"spec":{"clusterName":"c","bootstrap":{"dataSecretName":%q},"infrastructureRef":{"kind":"DeckhouseMachine","name":%q}}}`, bootstrap, name)
	if bootstrap == "" {
		content = fmt.Sprintf(`{"spec":{"clusterName":"c","bootstrap":{},"infrastructureRef":{"kind":"DeckhouseMachine","name":%q}}}`, name)
	}
	m := b.capi("Machine", name, content)
	dm := &v1alpha1.DeckhouseMachine{
		ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: name, Labels: map[string]string{labelCluster: "c"}, OwnerReferences: owner(m)},
		Spec: v1alpha1.DeckhouseMachineSpec{MachineResources: v1alpha1.MachineResources{
			VMClassName: emulatortest.Class, RootDiskSize: resource.MustParse("2Gi"), RootDiskStorageClass: emulatortest.Immediate, Memory: resource.MustParse("1Gi"),
			CPU: v1alpha1.CPU{Cores: 1}, BootDiskImageRef: v1alpha1.ImageRef{Kind: "ClusterVirtualImage", Name: emulatortest.Image},
		}},
	}
	if change != nil {
		change(dm)
	}
	if err := b.Create(b.t.Context(), dm); err != nil {
		b.t.Fatal(err)
	}
	return dm
}

// await waits until a machine is as a test says.
func (b *bed) await(dm *v1alpha1.DeckhouseMachine, what string, so func(*v1alpha1.DeckhouseMachine) bool) {
	b.t.Helper()
	defer func() {
		if b.t.Failed() {
			b.t.Logf("got %+v, %+v", dm.ObjectMeta.Annotations, dm.Status)
		}
	}()
	b.dvp.Eventually(dm.Name+": "+what, func(ctx context.Context) bool {
		return b.Get(ctx, client.ObjectKeyFromObject(dm), dm) == nil && so(dm)
	})
}

// awaitReason waits for a reason of the condition VirtualMachineReady, with these words.
func (b *bed) awaitReason(dm *v1alpha1.DeckhouseMachine, reason, words string) {
	b.t.Helper()
	b.await(dm, reason+" "+words, func(dm *v1alpha1.DeckhouseMachine) bool { return because(dm, reason, words) })
}

func (b *bed) awaitGone(o client.Object) {
	b.t.Helper()
	b.dvp.Eventually(o.GetName()+" is gone", func(ctx context.Context) bool {
		return apierrors.IsNotFound(b.Get(ctx, client.ObjectKeyFromObject(o), o))
	})
}

func (b *bed) patch(o client.Object, patch string) {
	b.t.Helper()
	if err := b.Patch(b.t.Context(), o, client.RawPatch("application/merge-patch+json", []byte(patch))); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bed) delete(o client.Object) {
	b.t.Helper()
	if err := b.Delete(b.t.Context(), o); err != nil {
		b.t.Fatal(err)
	}
}

// vm is the machine in DVP.
func (b *bed) vm(name string) *v1alpha2.VirtualMachine {
	return &v1alpha2.VirtualMachine{ObjectMeta: metav1.ObjectMeta{Namespace: b.dvp.Namespace, Name: name}}
}

func (b *bed) disk(name string) *v1alpha2.VirtualDisk {
	return &v1alpha2.VirtualDisk{ObjectMeta: metav1.ObjectMeta{Namespace: b.dvp.Namespace, Name: name}}
}

// there reads an object in DVP that must be there.
func (b *bed) there(o client.Object) {
	b.t.Helper()
	if err := b.dvp.Get(b.t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
		b.t.Fatal(err)
	}
}

// running makes a machine and waits until it runs.
func (b *bed) running(name string) *v1alpha1.DeckhouseMachine {
	b.t.Helper()
	dm := b.machine(name, "script", nil)
	b.awaitReason(dm, v1alpha1.VMRunning, "")
	return dm
}

func condition(dm *v1alpha1.DeckhouseMachine, kind string) metav1.Condition {
	if c := meta.FindStatusCondition(dm.Status.Conditions, kind); c != nil {
		return *c
	}
	return metav1.Condition{}
}
