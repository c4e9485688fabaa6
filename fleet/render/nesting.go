package render

import (
	"fmt"
	"regexp"
	"strings"
)

// maxBlocks bounds how deep blocks and brackets stand in each other: the parser calls itself for each.
const maxBlocks = 200

var block = regexp.MustCompile(`\{\{-?\s*(?:(if|with|range|block|define|end)\b|else\s+(?:if|with)\b)`)

// tooNested refuses a text that would take the parser too deep. It looks no closer than it must:
// what it lets through the parser can take, and what it refuses nobody has written by hand.
func tooNested(text string) *Problem {
	var open []int // how many blocks each "end" closes: one, and one for each "else if"
	deep := 0
	for _, at := range block.FindAllStringSubmatchIndex(text, -1) {
		switch {
		case at[2] >= 0 && text[at[2]:at[3]] == "end":
			if len(open) > 0 {
				deep -= open[len(open)-1]
				open = open[:len(open)-1]
			}
		case at[2] >= 0:
			open = append(open, 1)
			deep++
		case len(open) > 0:
			open[len(open)-1]++
			deep++
		}
		if deep > maxBlocks {
			return nested(text, at[0])
		}
	}
	for start := 0; ; {
		from := strings.Index(text[start:], "{{")
		if from < 0 {
			return nil
		}
		from += start
		end, deepest := action(text, from+2)
		if deepest > maxBlocks {
			return nested(text, from)
		}
		start = end
	}
}

// action walks an action from its beginning and tells where it ends and how deep its brackets stand.
func action(text string, at int) (end, deepest int) {
	deep := 0
	for at < len(text) {
		switch text[at] {
		case '(':
			deep++
			deepest = max(deepest, deep)
		case ')':
			deep--
		case '"', '`', '\'':
			at = quoted(text, at)
		case '}':
			if strings.HasPrefix(text[at:], "}}") {
				return at + 2, deepest
			}
		}
		at++
	}
	return min(at, len(text)), deepest
}

// quoted is the place of the quote that closes the one at a place.
func quoted(text string, at int) int {
	quote := text[at]
	for at++; at < len(text) && text[at] != quote; at++ {
		if text[at] == '\\' && quote != '`' {
			at++
		}
	}
	return at
}

func nested(text string, at int) *Problem {
	return &Problem{Kind: "template", Line: 1 + strings.Count(text[:at], "\n"), Text: fmt.Sprintf("blocks or brackets stand more than %d deep in each other", maxBlocks)}
}
