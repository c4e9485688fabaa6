package main

import (
	"strings"
	"testing"
)

func TestSharesOfSamples(t *testing.T) {
	t.Parallel()
	hundred := samples{}
	for n := 100; n >= 1; n-- {
		hundred = append(hundred, float64(n))
	}
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"median of an odd number", samples{9, 1, 5}.median(), 5},
		{"median of an even number", samples{4, 1, 3, 2}.median(), 2.5},
		{"p99 of a hundred", hundred.at(0.99), 99},
		{"p99 of few is the highest", samples{2, 7, 1}.at(0.99), 7},
		{"p0 is the lowest", samples{2, 7, 1}.at(0), 1},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, c.got, c.want)
		}
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	got := table([]figure{
		{what: "twice", samples: samples{0.1, 0.2}, unit: milliseconds, goal: "≤ 300 ms", beside: ratio(samples{0.3}, samples{0.1}, milliseconds, "a floor")},
		{what: "once", samples: samples{3 << 20}, unit: mebibytes},
	})
	for _, want := range []string{
		"| twice | 150.0 ms | 100.0 ms – 200.0 ms |  | 2 | ≤ 300 ms | 3.0 × a floor (100.0 ms) |\n",
		"| once | 3.0 MiB |  |  | 1 |  |  |\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the table lacks %q:\n%s", want, got)
		}
	}
}
