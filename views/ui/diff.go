package ui

import "strings"

// around is how many equal lines are kept on each side of a difference.
const around = 3

// Compare finds the lines that differ between two texts. Equal texts give nothing.
func Compare(before, after string) []DiffLine {
	if before == after {
		return nil
	}
	return fold(align(lines(before), lines(after)))
}

func lines(text string) []string {
	text = strings.TrimSuffix(text, "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
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
