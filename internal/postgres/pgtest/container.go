package pgtest

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"time"

	"github.com/testcontainers/testcontainers-go"
	tclog "github.com/testcontainers/testcontainers-go/log"
	"github.com/testcontainers/testcontainers-go/modules/postgres"
)

const defaultImage = "postgres:17-alpine"

// pullBound is how long a missing image may take before local binaries are used instead; where
// Docker is required there is no instead, and a slow registry is waited for.
const (
	pullBound         = time.Minute
	requiredPullBound = 10 * time.Minute
)

// startContainer starts PostgreSQL as a container if a Docker engine answers.
func startContainer(ctx context.Context) (*Server, error) {
	settle()
	if err := engineAnswers(ctx); err != nil {
		return nil, fmt.Errorf("no Docker engine answers: %w", err)
	}
	limit := pullBound
	if os.Getenv(requireDockerVariable) == "1" {
		limit = requiredPullBound
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	image := cmp.Or(os.Getenv(imageVariable), defaultImage)
	container, err := postgres.Run(ctx, image,
		postgres.WithDatabase("postgres"), postgres.WithUsername("postgres"), postgres.WithPassword("postgres"),
		postgres.BasicWaitStrategies(),
		testcontainers.WithCmdArgs("-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off", "-c", "max_connections=200"),
	)
	stop := func() error { return testcontainers.TerminateContainer(container) }
	if err != nil {
		_ = stop() // there may be nothing to stop; the cause is what matters
		return nil, fmt.Errorf("start container from image %s: %w", image, err)
	}
	address, err := container.ConnectionString(ctx, "sslmode=disable")
	if err != nil {
		_ = stop()
		return nil, fmt.Errorf("find address of container: %w", err)
	}
	return &Server{URL: address, From: "testcontainers, image " + image, stop: stop}, nil
}

// settle tells testcontainers what it cannot find out by itself.
func settle() {
	// Whoever starts the container also ends it, even when killed (see keeper.go), so the reaper
	// is not needed; its image could often not be pulled anyway.
	setDefault("TESTCONTAINERS_RYUK_DISABLED", "true")
	// On a machine that looks like a container, testcontainers asks for published ports at the
	// gateway. If the engine's bridge is here, then so is the engine, and they are at home.
	if _, err := net.InterfaceByName("docker0"); err == nil {
		setDefault("TESTCONTAINERS_HOST_OVERRIDE", "127.0.0.1")
	}
	tclog.SetDefault(log.New(io.Discard, "", 0))
}

func setDefault(name, value string) {
	if _, set := os.LookupEnv(name); !set {
		_ = os.Setenv(name, value) // fails only for malformed names
	}
}

func engineAnswers(ctx context.Context) (err error) {
	defer func() { // testcontainers panics where it finds no engine at all
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	provider, err := testcontainers.NewDockerProvider()
	if err != nil {
		return err
	}
	defer provider.Close()
	return provider.Health(ctx)
}
