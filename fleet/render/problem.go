package render

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
)

var (
	templateLine = regexp.MustCompile(`^template: [^:]*:(\d+)(?::\d+)?: (.*)$`)
	yamlLine     = regexp.MustCompile(`^yaml: (?:unmarshal errors: *)?line (\d+): (.*)$`)
)

// templateProblem keeps the line and the reason of a text/template error and drops the rest,
// which speaks of this program rather than of the template.
func templateProblem(name string, err error) *Problem {
	var cut exceeded
	if errors.As(err, &cut) {
		problem := &Problem{Kind: "template", Text: string(cut)}
		if m := templateLine.FindStringSubmatch(strings.ReplaceAll(err.Error(), "\n", " ")); m != nil {
			problem.Line, _ = strconv.Atoi(m[1])
		}
		return problem
	}
	text := strings.ReplaceAll(err.Error(), "\n", " ")
	if m := templateLine.FindStringSubmatch(text); m != nil {
		line, _ := strconv.Atoi(m[1])
		reason := strings.TrimPrefix(m[2], `executing "`+name+`" at `)
		return &Problem{Kind: "template", Line: line, Text: reason}
	}
	return &Problem{Kind: "template", Text: strings.TrimPrefix(text, "template: ")}
}

func yamlProblem(err error) *Problem {
	text := strings.ReplaceAll(err.Error(), "\n", " ")
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		line, _ := strconv.Atoi(m[1])
		return &Problem{Kind: "yaml", Line: line, Text: m[2]}
	}
	return &Problem{Kind: "yaml", Text: strings.TrimPrefix(text, "yaml: ")}
}
