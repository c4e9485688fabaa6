package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

const cluster = `
apiVersion: deckhouse.io/v1
kind: ClusterConfiguration
clusterType: Cloud
cloud: {provider: Lab, prefix: blue}
podSubnetCIDR: 10.111.0.0/16
serviceSubnetCIDR: 10.222.0.0/16
kubernetesVersion: "1.37"
`

func provider(workers, cpu int, labels string) string {
	return fmt.Sprintf(`
apiVersion: lab.commander.io/v1alpha1
kind: LabClusterConfiguration
masterNodeGroup: {replicas: 1, instanceClass: {cpu: 2, memoryGiB: 4, rootDiskGiB: 20}}
nodeGroups:
- {name: worker, replicas: %d, instanceClass: {cpu: %d, memoryGiB: 8, rootDiskGiB: 40}, labels: {%s}}
`, workers, cpu, labels)
}

func TestWantedNamesEveryMachine(t *testing.T) {
	t.Parallel()
	got, err := (&Engine{}).Wanted(cluster, provider(2, 4, ""))
	if err != nil {
		t.Fatal(err)
	}
	if names := slices.Sorted(maps.Keys(got.Machines)); !slices.Equal(names, []string{"blue-master-0", "blue-worker-0", "blue-worker-1"}) {
		t.Errorf("machines: got %v, want a master and two workers", names)
	}
	if !got.Exists || got.Version != "1.37" || got.Machines["blue-worker-0"].Group != "worker" {
		t.Errorf("got %+v, want version 1.37 and workers in their group", got)
	}
}

func TestWantedSeparatesWhatCanBeChangedInPlace(t *testing.T) {
	t.Parallel()
	read := func(cluster, provider string) Infra {
		t.Helper()
		i, err := (&Engine{}).Wanted(cluster, provider)
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	const node = "blue-worker-0"
	base := read(cluster, provider(1, 4, ""))
	bigger, labelled := read(cluster, provider(1, 8, "")), read(cluster, provider(1, 4, "a: b"))
	if bigger.Machines[node].Class == base.Machines[node].Class || bigger.Machines[node].Settings != base.Machines[node].Settings {
		t.Error("another size is not another class alone")
	}
	if labelled.Machines[node].Class != base.Machines[node].Class || labelled.Machines[node].Settings == base.Machines[node].Settings {
		t.Error("other labels are not other settings alone")
	}
	moved := read(strings.Replace(cluster, "10.111", "10.112", 1), provider(1, 4, ""))
	older := read(strings.Replace(cluster, "1.37", "1.36", 1), provider(1, 4, ""))
	if moved.Fixed == base.Fixed || older.Fixed != base.Fixed || older.Version != "1.36" {
		t.Errorf("fixed part: got %q, %q and %q; want networks in it and versions not", base.Fixed, moved.Fixed, older.Fixed)
	}
}

func TestObservedLooksLikeWanted(t *testing.T) {
	t.Parallel()
	want, err := (&Engine{}).Wanted(cluster, provider(1, 4, ""))
	if err != nil {
		t.Fatal(err)
	}
	plane, nodes, err := wanted(cluster, provider(1, 4, ""))
	if err != nil {
		t.Fatal(err)
	}
	for i := range nodes { // as the daemon tells of them
		nodes[i].Ready, nodes[i].Labels = true, map[string]string{}
	}
	got, err := infra(plane, nodes)
	if err != nil || got.Fixed != want.Fixed || !maps.Equal(got.Machines, want.Machines) {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
}

func TestErrorsNameTheDocument(t *testing.T) {
	t.Parallel()
	if _, err := (&Engine{}).Wanted(cluster, provider(-1, 4, "")); err == nil || !strings.Contains(err.Error(), "nodeGroups.worker.replicas") {
		t.Errorf("got %v, want the field that is wrong", err)
	}
}
