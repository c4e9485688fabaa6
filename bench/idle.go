package main

import (
	"context"
	"fmt"
	"slices"
)

// kinds are the programs of a cluster, by the names that they are called by.
var kinds = []string{
	"kube-apiserver", "etcd", "kube-controller-manager", "kube-scheduler", "kwok", "commander-agent", "ampg-connector",
}

// idle measures the memory of clusters that do nothing: the sum of PSS over their processes, in
// which pages of a program that all clusters run count once.
func (b *bench) idle(ctx context.Context) ([]figure, error) {
	d, err := b.theDemo(ctx)
	if err != nil {
		return nil, err
	}
	version, err := d.template(ctx)
	if err != nil {
		return nil, err
	}
	var ids []string
	for n := range b.Idle {
		id, err := d.create(ctx, fmt.Sprintf("idle-%d", n), version)
		if err != nil {
			return nil, err
		}
		if err := d.awaitReady(ctx, id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	if err := pause(ctx, b.Settle); err != nil {
		return nil, err
	}
	each, all, err := memoryByKind(ids)
	if err != nil {
		return nil, err
	}
	figures := []figure{
		{what: fmt.Sprintf("%d idle clusters, all their processes", len(ids)), samples: samples{sum(all)}, unit: mebibytes},
		{what: "a cluster of them", samples: all, unit: mebibytes, beside: ratio(all, each["kube-apiserver"], mebibytes, "its API server alone")},
	}
	for _, kind := range kinds {
		figures = append(figures, figure{what: "its `" + kind + "`", samples: each[kind], unit: mebibytes})
	}
	return figures, d.removeAll(ctx, ids)
}

// memoryByKind is the PSS of each cluster's process of a kind, and of each cluster. It fails if a
// cluster lacks a process: the sum would be too small.
func memoryByKind(ids []string) (map[string]samples, samples, error) {
	each, all := map[string]samples{}, samples{}
	for _, id := range ids {
		total := 0.0
		found := processesWith(id)
		for name, pids := range found {
			if !slices.Contains(kinds, name) || len(pids) != 1 {
				return nil, nil, fmt.Errorf("cluster %s has %d processes %s: %v", id, len(pids), name, found)
			}
			m, err := memoryOf(pids[0])
			if err != nil {
				return nil, nil, err
			}
			each[name] = append(each[name], m.pss)
			total += m.pss
		}
		if len(found) != len(kinds) {
			return nil, nil, fmt.Errorf("cluster %s has %v, want %v", id, found, kinds)
		}
		all = append(all, total)
	}
	return each, all, nil
}

func sum(s samples) float64 {
	total := 0.0
	for _, v := range s {
		total += v
	}
	return total
}
