// Package discoverer tells a cluster what its DVP offers: it keeps the Secret
// kube-system/d8-cloud-provider-discovery-data as the storage classes of DVP are.
//
// While DVP or the cluster's API does not answer, what is written stays, and a metric says so.
package discoverer
