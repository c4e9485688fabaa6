// Command kubernetes is one binary with the real Kubernetes components that a lab cluster runs:
// it behaves as the component whose name it is called by, or that its first argument names.
//
// It lives in a module of its own so that Kubernetes never becomes a dependency of the product.
// The default module file builds v1.37; other versions have a module file each (-modfile=v1.36.mod).
package main

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

// components holds a constructor a component: only the one that is asked for is built, since
// each constructor registers flags and metrics of its own.
var components = map[string]func() *cobra.Command{
	"kube-apiserver":          apiserver.NewAPIServerCommand,
	"kube-controller-manager": controllermanager.NewControllerManagerCommand,
	"kube-scheduler":          func() *cobra.Command { return scheduler.NewSchedulerCommand() },
	"kubectl":                 func() *cobra.Command { return kubectl.NewDefaultKubectlCommand() },
}

func main() {
	name := filepath.Base(os.Args[0])
	if _, known := components[name]; !known && len(os.Args) > 1 {
		name = os.Args[1]
		os.Args = os.Args[1:]
	}
	component, known := components[name]
	if !known {
		os.Stderr.WriteString("usage: kubernetes kube-apiserver|kube-controller-manager|kube-scheduler|kubectl [flags]\n")
		os.Exit(2)
	}
	os.Exit(cli.Run(component()))
}
