package dhctl

import (
	"context"
	"maps"
	"sync"

	pb "commander/agents/dhctl/dhctlpb"
	"commander/agents/dhctl/phases"
)

// Status answers the service of that name from the calls that it was told of.
type Status struct {
	pb.UnimplementedStatusServer

	mu       sync.Mutex // guards both
	byMethod map[string]int64
	inWork   int64
}

// Began counts a call and returns what to do when it ends.
func (s *Status) Began(method string) (ended func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byMethod == nil {
		s.byMethod = map[string]int64{}
	}
	s.byMethod[method]++
	s.inWork++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.inWork--
	}
}

// GetStatus tells what the server was asked and how much it is doing.
func (s *Status) GetStatus(context.Context, *pb.GetStatusRequest) (*pb.GetStatusResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	inWork := s.inWork
	return &pb.GetStatusResponse{RequestsByMethod: maps.Clone(s.byMethod), RequestsInProgress: &inWork}, nil
}

// GetPhaseCatalog returns the titles of all phases.
func (s *Status) GetPhaseCatalog(context.Context, *pb.PhaseCatalogRequest) (*pb.PhaseCatalog, error) {
	return &pb.PhaseCatalog{Phases: titles(phases.Catalog), SubPhases: titles(phases.SubCatalog)}, nil
}

func titles(catalog map[string]phases.Titles) map[string]*pb.Titles {
	all := make(map[string]*pb.Titles, len(catalog))
	for name, byLocale := range catalog {
		all[name] = &pb.Titles{ByLocale: byLocale}
	}
	return all
}
