package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// figure is a line of a table.
type figure struct {
	what    string
	samples samples
	unit    unit
	goal    string // what was promised; empty for nothing
	beside  string // a floor or peer of the same run and the ratio to it; empty for none
}

// samples are the values of one thing measured again and again.
type samples []float64

// at is the value below which a share (0 to 1) of the samples lies, by the nearest rank.
func (s samples) at(share float64) float64 {
	sorted := slices.Sorted(slices.Values(s))
	rank := int(math.Ceil(share * float64(len(sorted))))
	return sorted[min(max(rank, 1), len(sorted))-1]
}

// median is the middle value, or the mean of the two in the middle.
func (s samples) median() float64 {
	sorted := slices.Sorted(slices.Values(s))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

func (s *samples) addTime(d time.Duration) { *s = append(*s, d.Seconds()) }

// unit says how values are written.
type unit func(float64) string

// Times are measured in seconds, memory in bytes.
func seconds(v float64) string      { return fmt.Sprintf("%.2f s", v) }
func milliseconds(v float64) string { return fmt.Sprintf("%.1f ms", v*1e3) }
func microseconds(v float64) string { return fmt.Sprintf("%.1f µs", v*1e6) }
func mebibytes(v float64) string    { return fmt.Sprintf("%.1f MiB", v/(1<<20)) }

// ratio says how many times the floor or peer something is.
func ratio(ours, theirs samples, u unit, what string) string {
	return fmt.Sprintf("%.1f × %s (%s)", ours.median()/theirs.median(), what, u(theirs.median()))
}

// table writes figures as Markdown.
func table(figures []figure) string {
	var b strings.Builder
	b.WriteString("| measured | median | min – max | p99 | n | goal | beside it |\n|---|---|---|---|---|---|---|\n")
	for _, f := range figures {
		s, spread, high := f.samples, "", ""
		if len(s) > 1 {
			spread = f.unit(slices.Min(s)) + " – " + f.unit(slices.Max(s))
		}
		if len(s) >= 100 {
			high = f.unit(s.at(0.99))
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %d | %s | %s |\n", f.what, f.unit(s.median()), spread, high, len(s), f.goal, f.beside)
	}
	return b.String()
}
