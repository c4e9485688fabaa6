package apiserver

import (
	"fmt"
	"net"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/endpoints/openapi"
	generic "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/apiserver/pkg/server/options"
	"k8s.io/apiserver/pkg/util/compatibility"

	"commander/agents/node/bashible/v1alpha1"
	"commander/internal/clock"
)

// Listen is where and how the server is reached.
type Listen struct {
	Listener net.Listener
	// CertFile and KeyFile are looked at again when they change.
	CertFile, KeyFile string
	// Kubeconfig is how the API server is asked who a caller is; empty means as a pod.
	Kubeconfig string
}

// newServer makes the aggregated server. It asks the API server how requests that it forwards are
// known, and fails if it does not answer.
func newServer(l Listen, access Access, served *Served, c clock.Clock) (*generic.GenericAPIServer, error) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("make kinds known: %w", err)
	}
	// The kinds that every API has are those of the core API's version.
	core := schema.GroupVersion{Version: "v1"}
	metav1.AddToGroupVersion(scheme, core)
	scheme.AddUnversionedTypes(core,
		&metav1.Status{}, &metav1.APIVersions{}, &metav1.APIGroupList{}, &metav1.APIGroup{}, &metav1.APIResourceList{})
	codecs := serializer.NewCodecFactory(scheme)
	config := generic.NewRecommendedConfig(codecs)
	config.EffectiveVersion = compatibility.DefaultBuildEffectiveVersion()
	names := openapi.NewDefinitionNamer(scheme)
	config.OpenAPIConfig = generic.DefaultOpenAPIConfig(definitions, names)
	config.OpenAPIV3Config = generic.DefaultOpenAPIV3Config(definitions, names)
	config.OpenAPIConfig.Info.Title, config.OpenAPIV3Config.Info.Title = "bashible", "bashible"
	config.EnableProfiling = false

	serving := options.NewSecureServingOptions().WithLoopback()
	serving.Listener = l.Listener
	serving.ServerCert.CertKey = options.CertKey{CertFile: l.CertFile, KeyFile: l.KeyFile}
	authentication := options.NewDelegatingAuthenticationOptions()
	authorization := options.NewDelegatingAuthorizationOptions()
	authentication.RemoteKubeConfigFile, authorization.RemoteKubeConfigFile = l.Kubeconfig, l.Kubeconfig
	if err := serving.ApplyToConfig(&config.Config); err != nil {
		return nil, fmt.Errorf("prepare listening: %w", err)
	}
	if err := authentication.ApplyTo(&config.Authentication, config.SecureServing, config.OpenAPIConfig); err != nil {
		return nil, fmt.Errorf("prepare authentication: %w", err)
	}
	if err := authorization.ApplyTo(&config.Authorization); err != nil {
		return nil, fmt.Errorf("prepare authorization: %w", err)
	}
	config.AddReadyzChecks(healthz.NamedCheck("rendered", func(*http.Request) error {
		if served.Load() == nil {
			return errEmpty
		}
		return nil
	}))
	server, err := config.Complete().New("bashible-api-server", generic.NewEmptyDelegate())
	if err != nil {
		return nil, fmt.Errorf("make server: %w", err)
	}
	group := generic.NewDefaultAPIGroupInfo(v1alpha1.GroupVersion.Group, scheme, metav1.ParameterCodec, codecs)
	group.VersionedResourcesStorageMap[v1alpha1.GroupVersion.Version] = storages(access, served, c)
	if err := server.InstallAPIGroup(&group); err != nil {
		return nil, fmt.Errorf("serve %s: %w", v1alpha1.GroupVersion, err)
	}
	return server, nil
}
