package emulator

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"

	"commander/agents/dvp/api/virtualization/v1alpha2"
)

// policyFor picks the sizing policy of a class by the number of cores; nil if none speaks to it.
func policyFor(class *v1alpha2.VirtualMachineClass, cores int) *v1alpha2.SizingPolicy {
	for i, policy := range class.Spec.SizingPolicies {
		if policy.Cores.Min <= cores && cores <= policy.Cores.Max {
			return &class.Spec.SizingPolicies[i]
		}
	}
	return nil
}

// sizingFaults says all that is wrong with a machine's size for its class.
func sizingFaults(spec *v1alpha2.VirtualMachineSpec, class *v1alpha2.VirtualMachineClass) []string {
	if len(class.Spec.SizingPolicies) == 0 {
		return nil
	}
	policy := policyFor(class, spec.CPU.Cores)
	if policy == nil {
		var ranges []string
		for _, p := range class.Spec.SizingPolicies {
			ranges = append(ranges, fmt.Sprintf("%d-%d", p.Cores.Min, p.Cores.Max))
		}
		return []string{fmt.Sprintf("no policy for %d cores; there are policies for %s", spec.CPU.Cores, strings.Join(ranges, ", "))}
	}
	var faults []string
	if step := policy.Cores.Step; step > 0 && (spec.CPU.Cores-policy.Cores.Min)%step != 0 {
		faults = append(faults, fmt.Sprintf("%d cores are not on the grid of %d from %d", spec.CPU.Cores, step, policy.Cores.Min))
	}
	percent, err := strconv.Atoi(strings.TrimSuffix(spec.CPU.CoreFraction, "%"))
	if len(policy.CoreFractions) > 0 && err == nil && !slices.Contains(policy.CoreFractions, v1alpha2.Percent(percent)) {
		faults = append(faults, fmt.Sprintf("core fraction %s is not one of %v", spec.CPU.CoreFraction, policy.CoreFractions))
	}
	if policy.Memory != nil {
		faults = append(faults, memoryFaults(spec, policy.Memory)...)
	}
	return faults
}

func memoryFaults(spec *v1alpha2.VirtualMachineSpec, rule *v1alpha2.SizingMemory) []string {
	var faults []string
	size := spec.Memory.Size
	outside := func(what string, size resource.Quantity, least, most *resource.Quantity) {
		if least != nil && size.Cmp(*least) < 0 {
			faults = append(faults, fmt.Sprintf("%s %s is less than %s", what, size.String(), least.String()))
		}
		if most != nil && size.Cmp(*most) > 0 {
			faults = append(faults, fmt.Sprintf("%s %s is more than %s", what, size.String(), most.String()))
		}
	}
	outside("memory", size, rule.Min, rule.Max)
	if rule.Step != nil && rule.Step.Value() > 0 {
		from := int64(0)
		if rule.Min != nil {
			from = rule.Min.Value()
		}
		if (size.Value()-from)%rule.Step.Value() != 0 {
			faults = append(faults, fmt.Sprintf("memory %s is not on the grid of %s", size.String(), rule.Step.String()))
		}
	}
	if rule.PerCore != nil {
		each := resource.NewQuantity(size.Value()/int64(spec.CPU.Cores), resource.BinarySI)
		outside("memory for each core", *each, rule.PerCore.Min, rule.PerCore.Max)
	}
	return faults
}

// sizingMessage is how DVP words a refusal.
func sizingMessage(class string, faults []string) string {
	return fmt.Sprintf("does not match the sizing policy of VirtualMachineClass %q:\n* %s", class, strings.Join(faults, "\n* "))
}

// defaultFraction is the share of a core for a machine that names none.
func defaultFraction(policy *v1alpha2.SizingPolicy) string {
	if policy == nil || policy.DefaultCoreFraction == nil {
		return "100%"
	}
	if policy.DefaultCoreFraction.Type == intstr.String {
		return policy.DefaultCoreFraction.StrVal
	}
	return strconv.Itoa(policy.DefaultCoreFraction.IntValue()) + "%"
}
