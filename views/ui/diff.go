package ui

import "strings"

// around is how many equal lines are kept on each side of a difference.
const around = 3

// largest is the number of lines beyond which a comparison says "all replaced": the table below
// grows with the product of both sides.
const largest = 1000

// Compare finds the lines that differ between two texts. Equal texts give nothing.
func Compare(before, after string) []DiffLine {
	if before == after {
		return nil
	}
	return fold(longest(lines(before), lines(after)))
}

func lines(text string) []string {
	text = strings.TrimSuffix(text, "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// longest walks the table of longest common subsequences.
func longest(a, b []string) []DiffLine {
	start := 0
	for start < len(a) && start < len(b) && a[start] == b[start] {
		start++
	}
	out := mark(nil, ' ', a[:start])
	a, b = a[start:], b[start:]
	if len(a) > largest || len(b) > largest {
		return mark(mark(out, '-', a), '+', b)
	}
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

func mark(out []DiffLine, m rune, texts []string) []DiffLine {
	for _, t := range texts {
		out = append(out, DiffLine{m, t})
	}
	return out
}

// fold leaves out equal lines that are far from any difference.
func fold(all []DiffLine) []DiffLine {
	near := make([]bool, len(all))
	for i, l := range all {
		if l.Mark == ' ' {
			continue
		}
		for k := max(i-around, 0); k <= min(i+around, len(all)-1); k++ {
			near[k] = true
		}
	}
	var out []DiffLine
	for i, l := range all {
		switch {
		case near[i]:
			out = append(out, l)
		case i == 0 || near[i-1]:
			out = append(out, DiffLine{'…', ""})
		}
	}
	return out
}
