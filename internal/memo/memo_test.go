package memo_test

import (
	"errors"
	"testing"

	"commander/internal/memo"
)

func TestMemo(t *testing.T) {
	t.Parallel()
	m := memo.Memo[int]{Size: 5}
	made := 0
	length := func(text string) int {
		t.Helper()
		n, err := m.Of(text, func() (int, error) { made++; return len(text), nil })
		if err != nil || n != len(text) {
			t.Fatalf("%q came to %d, %v", text, n, err)
		}
		return made
	}
	for _, step := range []struct {
		text string
		made int
	}{{"ab", 1}, {"ab", 1}, {"cde", 2}, {"ab", 2}, {"cde", 2}, {"f", 3}, {"f", 3}, {"ab", 4}} {
		if got := length(step.text); got != step.made {
			t.Errorf("after %q there were %d made instead of %d", step.text, got, step.made)
		}
	}
	wrong := errors.New("wrong")
	if _, err := m.Of("x", func() (int, error) { return 0, wrong }); !errors.Is(err, wrong) {
		t.Errorf("the error is %v", err)
	}
	if n, err := m.Of("x", func() (int, error) { return 7, nil }); n != 7 || err != nil {
		t.Errorf("after an error it gave %d, %v", n, err)
	}
}
