package pgtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
)

// A test binary that was given no server starts itself a second time as a keeper. The keeper
// starts the server, tells its address, and ends it when the pipe from the test binary closes:
// that happens however the test binary ends, so nothing is left behind.
const keeperVariable = "COMMANDER_TEST_POSTGRES_KEEPER"

// told is what the keeper says, once, on its standard output.
type told struct{ URL, Problem string }

func init() {
	if os.Getenv(keeperVariable) == "1" {
		os.Exit(keep())
	}
}

// leash is the pipe that the keeper watches. It is a variable of the package so that it stays
// open until the process ends: the garbage collector closes files that nobody holds.
var leash io.Closer //nolint:unused // it is enough that it is held

// sharedServer is the server of this test binary, started for the first test that needs it.
var sharedServer = sync.OnceValues(func() (string, error) {
	if given := os.Getenv(URLVariable); given != "" {
		return given, nil
	}
	program, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find own program: %w", err)
	}
	keeper := exec.Command(program)
	keeper.Env = append(os.Environ(), keeperVariable+"=1")
	keeper.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for the test binary alone
	leash, err = keeper.StdinPipe()
	if err != nil {
		return "", fmt.Errorf("start keeper of PostgreSQL: %w", err)
	}
	answer, err := keeper.StdoutPipe()
	if err != nil {
		return "", fmt.Errorf("start keeper of PostgreSQL: %w", err)
	}
	if err := keeper.Start(); err != nil {
		return "", fmt.Errorf("start keeper of PostgreSQL: %w", err)
	}
	var t told
	if err := json.NewDecoder(answer).Decode(&t); err != nil {
		return "", fmt.Errorf("hear from keeper of PostgreSQL: %w", err)
	}
	if t.Problem != "" {
		return "", errors.New(t.Problem)
	}
	return t.URL, nil
})

func keep() int {
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGPIPE)
	var t told
	server, err := Start(context.Background())
	if err != nil {
		t.Problem = err.Error()
	} else {
		t.URL = server.URL
	}
	if err := json.NewEncoder(os.Stdout).Encode(t); err != nil && server == nil {
		return 1
	}
	if server == nil {
		return 1
	}
	untilClosed(os.Stdin)
	if err := server.Stop(); err != nil {
		return 1
	}
	return 0
}
