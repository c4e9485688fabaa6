package main

import (
	"context"
	"fmt"
	"time"

	"commander/fleet/upgrade"
	"commander/fleet/upgrade/upgradetest"
)

// mergesEach is how many merges share one look at the clock: one takes a few microseconds.
const mergesEach = 1_000

// merges moves made-up clusters between made-up versions of a template and compares each result with
// an oracle that knows the rules in words only. The first that differs ends the measurement.
func (b *bench) merges(ctx context.Context) ([]figure, error) {
	seed := uint64(time.Now().UnixNano())
	source, err := upgradetest.New(seed)
	if err != nil {
		return nil, err
	}
	var ours, oracle samples
	for done := 0; done < b.Merges; done += mergesEach {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		cases := make([]upgradetest.Case, min(mergesEach, b.Merges-done))
		for i := range cases {
			cases[i] = source.Next()
		}
		results := make([]upgrade.Result, len(cases))
		begin := time.Now()
		for i := range cases {
			results[i] = upgrade.Merge(cases[i].Input)
		}
		ours = append(ours, time.Since(begin).Seconds()/float64(len(cases)))
		expected := make([][upgradetest.Keys]upgradetest.Expected, len(cases))
		begin = time.Now()
		for i := range cases {
			expected[i] = cases[i].Expected()
		}
		oracle = append(oracle, time.Since(begin).Seconds()/float64(len(cases)))
		for i := range cases {
			if err := cases[i].Check(results[i], expected[i]); err != nil {
				return nil, fmt.Errorf("merge %d of seed %d differs from the oracle: %w", done+i, seed, err)
			}
		}
	}
	return []figure{{
		what:    fmt.Sprintf("time of a merge of %d parameters; of %d merges none differed from the oracle", upgradetest.Keys, b.Merges),
		samples: ours, unit: microseconds, beside: ratio(ours, oracle, microseconds, "the oracle alone"),
	}}, nil
}
