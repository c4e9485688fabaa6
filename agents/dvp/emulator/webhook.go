package emulator

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"commander/agents/dvp/api/virtualization/v1alpha2"
)

// judge is what the webhooks know of a change. Its client asks the API itself.
type judge struct {
	client.Reader
	world *world
}

// verdict is what a rule says: why not, or what to warn of.
type verdict struct{ deny, warn string }

func deny(format string, args ...any) verdict { return verdict{deny: fmt.Sprintf(format, args...)} }

// validator answers for all kinds.
type validator struct {
	judge
	decoder admission.Decoder
}

// Handle refuses what DVP refuses. A change of anything but the spec is let through: finalizers and
// labels must go on and off an object whose class has become stricter meanwhile.
func (v validator) Handle(ctx context.Context, req admission.Request) admission.Response {
	said, err := v.say(ctx, req)
	switch {
	case err != nil:
		return admission.Errored(http.StatusInternalServerError, err)
	case said.deny != "":
		return admission.Denied(said.deny)
	case said.warn != "":
		return admission.Allowed("").WithWarnings(said.warn)
	}
	return admission.Allowed("")
}

func (v validator) say(ctx context.Context, req admission.Request) (verdict, error) {
	switch req.Kind.Kind {
	case "VirtualMachine":
		now, before, err := both[v1alpha2.VirtualMachine](v.decoder, req)
		if err != nil {
			return verdict{}, err
		}
		return v.machine(ctx, now, before)
	case "VirtualDisk":
		now, before, err := both[v1alpha2.VirtualDisk](v.decoder, req)
		if err != nil {
			return verdict{}, err
		}
		return v.disk(ctx, now, before)
	case "VirtualMachineBlockDeviceAttachment":
		now, before, err := both[attachment](v.decoder, req)
		if err != nil || before != nil {
			return verdict{}, err
		}
		return v.attachment(ctx, now)
	case "VirtualMachineOperation":
		now, before, err := both[operation](v.decoder, req)
		if err != nil || before != nil {
			return verdict{}, err
		}
		return v.operation(ctx, now)
	case "VirtualMachineClass":
		now, _, err := both[v1alpha2.VirtualMachineClass](v.decoder, req)
		if err != nil {
			return verdict{}, err
		}
		return v.class(ctx, now)
	case "VirtualMachineIPAddress":
		now, before, err := both[v1alpha2.VirtualMachineIPAddress](v.decoder, req)
		if err != nil {
			return verdict{}, err
		}
		return v.address(ctx, now, before)
	}
	return verdict{}, nil
}

// both decodes an object as it shall be and as it was; the latter is nil when it is made.
func both[T any, P interface {
	*T
	runtime.Object
}](decoder admission.Decoder, req admission.Request) (now, before P, err error) {
	now = new(T)
	if err := decoder.Decode(req, now); err != nil {
		return nil, nil, err
	}
	if req.Operation == admissionv1.Create {
		return now, nil, nil
	}
	before = new(T)
	return now, before, decoder.DecodeRaw(req.OldObject, before)
}

// foreign finds a label or annotation of DVP's own group that is new.
func foreign(now, before map[string]string) string {
	for key := range now {
		group, _, ok := strings.Cut(key, "/")
		if _, was := before[key]; ok && !was && group == v1alpha2.GroupVersion.Group {
			return key
		}
	}
	return ""
}

// defaulter fills what a machine leaves open.
type defaulter struct {
	judge
	decoder admission.Decoder
}

// Handle names the default class and the share of a core.
func (d defaulter) Handle(ctx context.Context, req admission.Request) admission.Response {
	vm := new(v1alpha2.VirtualMachine)
	if err := d.decoder.Decode(req, vm); err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	var classes v1alpha2.VirtualMachineClassList
	if err := d.List(ctx, &classes); err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	if vm.Spec.VirtualMachineClassName == "" {
		i := slices.IndexFunc(classes.Items, isDefault)
		if i < 0 {
			return admission.Denied("virtualMachineClassName is empty, and no class is the default one")
		}
		vm.Spec.VirtualMachineClassName = classes.Items[i].Name
	}
	if vm.Spec.CPU.CoreFraction == "" && vm.Spec.CPU.Cores > 0 {
		var policy *v1alpha2.SizingPolicy
		for i := range classes.Items {
			if classes.Items[i].Name == vm.Spec.VirtualMachineClassName {
				policy = policyFor(&classes.Items[i], vm.Spec.CPU.Cores)
			}
		}
		vm.Spec.CPU.CoreFraction = defaultFraction(policy)
	}
	return patched(req, vm)
}

// patched answers with the two fields alone: the object as we know it may lack fields of the request.
func patched(req admission.Request, vm *v1alpha2.VirtualMachine) admission.Response {
	var raw map[string]any
	if err := json.Unmarshal(req.Object.Raw, &raw); err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	spec, ok := raw["spec"].(map[string]any)
	if !ok {
		return admission.Allowed("") // the schema refuses it
	}
	spec["virtualMachineClassName"] = vm.Spec.VirtualMachineClassName
	if cpu, ok := spec["cpu"].(map[string]any); ok && vm.Spec.CPU.CoreFraction != "" {
		cpu["coreFraction"] = vm.Spec.CPU.CoreFraction
	}
	text, err := json.Marshal(raw)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	return admission.PatchResponseFromRaw(req.Object.Raw, text)
}

func isDefault(class v1alpha2.VirtualMachineClass) bool {
	return class.Annotations[v1alpha2.AnnotationDefaultClass] == "true"
}

// missing says whether an error is that an object is not there, also when its kind is not.
func missing(err error) bool { return client.IgnoreNotFound(err) == nil || meta.IsNoMatchError(err) }
