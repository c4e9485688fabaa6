package ui

import "slices"

// largest bounds the table of common subsequences, in cells: it grows with the product of both sides.
const largest = 1 << 20

// align pairs the lines of two texts: what is equal, removed and added, in order. Where a piece is too
// large to be compared line with line, lines that occur once on both sides hold it together, and
// without any it is all replaced.
func align(a, b []string) []DiffLine {
	start := 0
	for start < len(a) && start < len(b) && a[start] == b[start] {
		start++
	}
	end := 0
	for end < len(a)-start && end < len(b)-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	out := mark(nil, ' ', a[:start])
	out = append(out, between(a[start:len(a)-end], b[start:len(b)-end])...)
	return mark(out, ' ', a[len(a)-end:])
}

// between aligns pieces whose first and last lines differ.
func between(a, b []string) []DiffLine {
	if len(a) == 0 || len(b) == 0 {
		return mark(mark(nil, '-', a), '+', b)
	}
	if len(a)*len(b) <= largest {
		return longest(a, b)
	}
	var out []DiffLine
	i, j := 0, 0
	for _, at := range anchors(a, b) {
		if at[0] < i || at[1] < j {
			continue // the piece before it has grown over it
		}
		out = append(out, small(a[i:at[0]], b[j:at[1]])...)
		out = mark(out, ' ', a[at[0]:at[0]+1])
		i, j = at[0]+1, at[1]+1
	}
	return append(out, small(a[i:], b[j:])...)
}

// small aligns a piece between anchors, and takes it as replaced when even that is too large.
func small(a, b []string) []DiffLine {
	if len(a)*len(b) > largest {
		return mark(mark(nil, '-', a), '+', b)
	}
	return longest(a, b)
}

// anchors are the places of lines that occur once on each side, as many as keep their order.
func anchors(a, b []string) [][2]int {
	type seen struct{ inA, inB, a, b int }
	all := map[string]*seen{}
	for i, line := range a {
		if s := all[line]; s != nil {
			s.inA++
		} else {
			all[line] = &seen{inA: 1, a: i}
		}
	}
	for j, line := range b {
		if s := all[line]; s != nil {
			s.inB++
			s.b = j
		}
	}
	var common [][2]int
	for i, line := range a {
		if s := all[line]; s.inA == 1 && s.inB == 1 {
			common = append(common, [2]int{i, s.b})
		}
	}
	return rising(common)
}

// rising is a longest run of pairs, sorted by their first number, whose second numbers rise too.
func rising(pairs [][2]int) [][2]int {
	var ends []int // the pair that ends the best run of each length
	before := make([]int, len(pairs))
	for i, p := range pairs {
		at, _ := slices.BinarySearchFunc(ends, p[1], func(e, wanted int) int { return pairs[e][1] - wanted })
		before[i] = -1
		if at > 0 {
			before[i] = ends[at-1]
		}
		ends = append(ends[:at], append([]int{i}, ends[min(at+1, len(ends)):]...)...)
	}
	if len(ends) == 0 {
		return nil
	}
	var out [][2]int
	for i := ends[len(ends)-1]; i >= 0; i = before[i] {
		out = append(out, pairs[i])
	}
	slices.Reverse(out)
	return out
}

// longest walks the table of longest common subsequences.
func longest(a, b []string) []DiffLine {
	length := make([][]int32, len(a)+1)
	for i := range length {
		length[i] = make([]int32, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				length[i][j] = length[i+1][j+1] + 1
			} else {
				length[i][j] = max(length[i+1][j], length[i][j+1])
			}
		}
	}
	var out []DiffLine
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] == b[j]:
			out = append(out, DiffLine{' ', a[i]})
			i, j = i+1, j+1
		case length[i+1][j] >= length[i][j+1]:
			out = append(out, DiffLine{'-', a[i]})
			i++
		default:
			out = append(out, DiffLine{'+', b[j]})
			j++
		}
	}
	return mark(mark(out, '-', a[i:]), '+', b[j:])
}
