// Package emulator acts as a DVP on any Kubernetes API: it installs the kinds of
// virtualization.deckhouse.io with their schemas and webhooks, and runs controllers that move
// machines, disks, attachments and addresses through the phases and conditions of the real one.
// Machines are state only: a pod object stands for each running one, and no process.
//
// The API must be one without controllers and nodes of its own (etcd and kube-apiserver alone): the
// emulator is the scheduler, the kubelet, the provisioner of volumes and the balancer there. Quotas
// are judged by the API server itself, which is told what is used.
package emulator
