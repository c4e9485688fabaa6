package configuration

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"

	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
	"sigs.k8s.io/yaml"

	"commander/agents/dvp/api/configuration/v1"
)

// Parse reads a DVPClusterConfiguration in YAML or JSON and gives it with its defaults. All that is
// wrong with it comes as one error of type Problems.
func Parse(text []byte) (*v1.DVPClusterConfiguration, error) {
	schema, err := clusterSchema()
	if err != nil {
		return nil, err
	}
	var document map[string]any
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, Problems{{"", fmt.Sprintf("it is neither YAML nor JSON: %v", err)}}
	}
	if len(document) == 0 {
		return nil, Problems{{"", "it is empty"}}
	}
	if problems := told(validate.NewSchemaValidator(schema, nil, "", strfmt.Default).Validate(document).Errors, schema); len(problems) > 0 {
		return nil, problems
	}
	fill(document, schema)
	filled, err := json.Marshal(document)
	if err != nil {
		return nil, fmt.Errorf("fill configuration: %w", err)
	}
	c := new(v1.DVPClusterConfiguration)
	if err := json.Unmarshal(filled, c); err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	if problems := judge(c); len(problems) > 0 {
		return nil, problems
	}
	return c, nil
}

// deviceLimit is how many disks a machine of DVP may have.
const deviceLimit = 16

// judge says what is wrong that no schema can say.
func judge(c *v1.DVPClusterConfiguration) (all Problems) {
	if _, err := base64.StdEncoding.DecodeString(c.Provider.KubeconfigDataBase64); err != nil {
		all.add("provider.kubeconfigDataBase64", "it is no Base64; base64 -w0 makes it of a kubeconfig")
	}
	master := c.MasterNodeGroup
	judgeGroup(&all, c, "masterNodeGroup", master.Replicas, master.Zones, master.InstanceClass.VirtualMachine.IPAddresses, 2+len(master.InstanceClass.AdditionalDisks))
	if master.Replicas%2 == 0 {
		all.add("masterNodeGroup.replicas", fmt.Sprintf("got %d; etcd needs an odd number of masters", master.Replicas))
	}
	names := map[string]bool{"master": true}
	for i, group := range c.NodeGroups {
		field := fmt.Sprintf("nodeGroups[%d]", i)
		if names[group.Name] {
			all.add(field+".name", fmt.Sprintf("%q is the name of another group", group.Name))
		}
		names[group.Name] = true
		judgeGroup(&all, c, field, group.Replicas, group.Zones, group.InstanceClass.VirtualMachine.IPAddresses, 1+len(group.InstanceClass.AdditionalDisks))
	}
	return all
}

func judgeGroup(all *Problems, c *v1.DVPClusterConfiguration, field string, replicas int, zones []string, addresses []v1.Address, disks int) {
	if len(addresses) > 0 && len(addresses) != replicas {
		all.add(field+".instanceClass.virtualMachine.ipAddresses", fmt.Sprintf("got %d for %d replicas; give one for each, Auto for any", len(addresses), replicas))
	}
	for i, address := range addresses {
		if address != "Auto" && slices.Contains(addresses[:i], address) {
			all.add(fmt.Sprintf("%s.instanceClass.virtualMachine.ipAddresses[%d]", field, i), fmt.Sprintf("%s is given twice", address))
		}
	}
	if disks > deviceLimit {
		all.add(field+".instanceClass.additionalDisks", fmt.Sprintf("a machine has at most %d disks, with the ones that it boots from and keeps etcd on", deviceLimit))
	}
	if len(zones) > 0 && len(c.Zones) > 0 && !slices.ContainsFunc(zones, func(zone string) bool { return slices.Contains(c.Zones, zone) }) {
		all.add(field+".zones", fmt.Sprintf("none of %v is among the provider's zones %v", zones, c.Zones))
	}
}
