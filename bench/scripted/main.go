// Command scripted is a dhctl server whose operations do nothing but take their time. It is started as
// the real one is, and speaks the same protocol.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"

	pb "commander/agents/dhctl/dhctlpb"
)

func main() {
	flags := flag.NewFlagSet("server", flag.ExitOnError)
	listen := flags.String("listen", "", "unix:<path> to serve on")
	s := &server{}
	flags.IntVar(&s.steps, "steps", 3, "phases of an installation")
	flags.DurationVar(&s.step, "step", time.Second, "how long each takes")
	if len(os.Args) < 2 || os.Args[1] != "server" {
		log.Fatal("the only command is: server --listen unix:<path>")
	}
	_ = flags.Parse(os.Args[2:]) // it exits by itself
	l, err := net.Listen("unix", strings.TrimPrefix(*listen, "unix:"))
	if err != nil {
		log.Fatal(err)
	}
	served := grpc.NewServer()
	pb.RegisterDHCTLServer(served, s)
	grpc_health_v1.RegisterHealthServer(served, health.NewServer())
	log.Fatal(served.Serve(l))
}

type server struct {
	pb.UnimplementedDHCTLServer

	steps int
	step  time.Duration
}

// Bootstrap installs a cluster in steps. After each the caller is asked.
func (s *server) Bootstrap(stream pb.DHCTL_BootstrapServer) error {
	if _, err := stream.Recv(); err != nil {
		return err
	}
	var phases []*pb.ProgressPhase
	for n := range s.steps {
		phases = append(phases, &pb.ProgressPhase{Phase: name(n), Action: "default"})
	}
	for n := range s.steps {
		if err := stream.Send(&pb.BootstrapResponse{Message: &pb.BootstrapResponse_Progress{Progress: &pb.Progress{
			Operation: "bootstrap", Progress: float64(n) / float64(s.steps), CurrentPhase: name(n), Phases: phases,
		}}}); err != nil {
			return err
		}
		if err := stream.Send(&pb.BootstrapResponse{Message: &pb.BootstrapResponse_Logs{Logs: &pb.Logs{
			Logs: []string{"phase " + name(n) + " begins", "nothing is done here"},
		}}}); err != nil {
			return err
		}
		select {
		case <-stream.Context().Done():
			return stream.Context().Err()
		case <-time.After(s.step):
		}
		if n == s.steps-1 {
			break
		}
		if err := stream.Send(&pb.BootstrapResponse{Message: &pb.BootstrapResponse_PhaseEnd{PhaseEnd: &pb.BootstrapPhaseEnd{
			CompletedPhase: name(n), NextPhase: name(n + 1), CompletedPhaseState: map[string][]byte{"step": []byte(name(n))},
		}}}); err != nil {
			return err
		}
		for answered := false; !answered; {
			m, err := stream.Recv()
			if err != nil {
				return err
			}
			if answered = m.GetContinue() != nil; answered && m.GetContinue().GetContinue() != pb.Continue_CONTINUE_NEXT_PHASE {
				return errors.New("the caller wants no further phase")
			}
		}
	}
	if err := stream.Send(&pb.BootstrapResponse{Message: &pb.BootstrapResponse_Result{Result: &pb.BootstrapResult{}}}); err != nil {
		return err
	}
	return drained(func() error { _, err := stream.Recv(); return err })
}

// Check finds nothing.
func (s *server) Check(stream pb.DHCTL_CheckServer) error {
	if _, err := stream.Recv(); err != nil {
		return err
	}
	if err := stream.Send(&pb.CheckResponse{Message: &pb.CheckResponse_Result{Result: &pb.CheckResult{Result: `{"status":"InSync","status_details":{}}`}}}); err != nil {
		return err
	}
	return drained(func() error { _, err := stream.Recv(); return err })
}

// drained waits until the caller has closed its side.
func drained(hear func() error) error {
	for {
		if err := hear(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func name(n int) string { return fmt.Sprintf("Step%d", n+1) }
