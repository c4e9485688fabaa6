// Command terraform-provider-dvp is the provider that OpenTofu starts for the layouts of DVP. It is
// of no use by itself.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/go-logr/logr"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"commander/agents/dvp/tofuprovider"
)

// version is set when the program is linked.
var version = "0.1.0"

// main does not end at a signal, as our other programs do: OpenTofu gets it as well, and tells its
// providers when to stop.
func main() {
	ctrllog.SetLogger(logr.Discard()) // what a provider says between its answers confuses people
	if err := providerserver.Serve(context.Background(), tofuprovider.New(version), providerserver.ServeOpts{Address: tofuprovider.Address}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
