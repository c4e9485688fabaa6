package apiserver

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	"commander/agents/node/bashible/render"
	"commander/agents/node/bashible/v1alpha1"
	"commander/internal/clock"
)

// Served is what is answered from; it is replaced as a whole, so that no answer mixes old and new.
type Served struct {
	atomic.Pointer[render.Everything]
}

// errEmpty is the answer before anything was rendered; nodes ask again.
var errEmpty = errors.New("configurations are not rendered yet; see the log of bashible-api-server for what is missing")

// storage serves one kind.
type storage struct {
	rest.TableConvertor
	resource string
	singular string
	access   Access
	served   *Served
	clock    clock.Clock
	empty    func() runtime.Object
	list     func() runtime.Object
	make     func(metav1.ObjectMeta, render.Group) runtime.Object
}

var (
	_ rest.Getter               = (*storage)(nil)
	_ rest.Lister               = (*storage)(nil)
	_ rest.Scoper               = (*storage)(nil)
	_ rest.SingularNameProvider = (*storage)(nil)
)

func (s *storage) New() runtime.Object     { return s.empty() }
func (s *storage) NewList() runtime.Object { return s.list() }
func (s *storage) Destroy()                {}
func (s *storage) NamespaceScoped() bool   { return false }
func (s *storage) GetSingularName() string { return s.singular }

// List yields nothing: who wants a configuration names it.
func (s *storage) List(context.Context, *internalversion.ListOptions) (runtime.Object, error) {
	return s.list(), nil
}

// Get gives the configuration of the group of that name, dated by the request.
func (s *storage) Get(ctx context.Context, name string, _ *metav1.GetOptions) (runtime.Object, error) {
	resource := v1alpha1.GroupVersion.WithResource(s.resource).GroupResource()
	who, known := request.UserFrom(ctx)
	if !known {
		return nil, apierrors.NewForbidden(resource, name, errors.New("the request has no user"))
	}
	own, limited, err := s.access.Group(ctx, who)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	if limited && own != name {
		return nil, apierrors.NewForbidden(resource, name, fmt.Errorf("%s belongs to group %q and may read only that", who.GetName(), own))
	}
	all := s.served.Load()
	if all == nil {
		return nil, apierrors.NewServiceUnavailable(errEmpty.Error())
	}
	group, found := all.Groups[name]
	if !found {
		return nil, apierrors.NewNotFound(resource, name)
	}
	return s.make(metav1.ObjectMeta{
		Name: name, CreationTimestamp: metav1.NewTime(s.clock.Now()),
		Annotations: map[string]string{v1alpha1.AnnotationChecksum: group.Checksum},
	}, group), nil
}

// storages are those of all kinds, by their resources.
func storages(access Access, served *Served, c clock.Clock) map[string]rest.Storage {
	all := []*storage{
		{
			resource: "bashibles", singular: "bashible",
			empty: func() runtime.Object { return new(v1alpha1.Bashible) }, list: func() runtime.Object { return new(v1alpha1.BashibleList) },
			make: func(m metav1.ObjectMeta, g render.Group) runtime.Object {
				return &v1alpha1.Bashible{ObjectMeta: m, Data: map[string]string{"bashible.sh": g.Script}}
			},
		},
		{
			resource: "nodegroupbundles", singular: "nodegroupbundle",
			empty: func() runtime.Object { return new(v1alpha1.NodeGroupBundle) }, list: func() runtime.Object { return new(v1alpha1.NodeGroupBundleList) },
			make: func(m metav1.ObjectMeta, g render.Group) runtime.Object {
				return &v1alpha1.NodeGroupBundle{ObjectMeta: m, Data: g.Steps}
			},
		},
		{
			resource: "bootstrap", singular: "bootstrap",
			empty: func() runtime.Object { return new(v1alpha1.Bootstrap) }, list: func() runtime.Object { return new(v1alpha1.BootstrapList) },
			make: func(m metav1.ObjectMeta, g render.Group) runtime.Object {
				return &v1alpha1.Bootstrap{ObjectMeta: m, Bootstrap: g.Bootstrap}
			},
		},
	}
	byResource := map[string]rest.Storage{}
	for _, s := range all {
		s.access, s.served, s.clock = access, served, c
		s.TableConvertor = rest.NewDefaultTableConvertor(v1alpha1.GroupVersion.WithResource(s.resource).GroupResource())
		byResource[s.resource] = s
	}
	return byResource
}
