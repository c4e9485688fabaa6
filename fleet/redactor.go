package fleet

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
)

// Redactor takes the secrets of a cluster out of texts, in the forms in which programs print
// them: as they are, line by line, as JSON and as base64.
type Redactor struct{ replacer *strings.Replacer }

const redacted = "[redacted]"

// shortestSecret keeps a secret such as "1" from blacking out every digit of a log.
const shortestSecret = 4

// NewRedactor knows the given secrets.
func NewRedactor(secrets []string) *Redactor {
	var forms []string
	add := func(text string) {
		if len(text) >= shortestSecret {
			forms = append(forms, text)
		}
	}
	for _, secret := range secrets {
		add(secret)
		add(base64.StdEncoding.EncodeToString([]byte(secret)))
		add(base64.RawURLEncoding.EncodeToString([]byte(secret)))
		if quoted, err := json.Marshal(secret); err == nil {
			add(strings.Trim(string(quoted), `"`))
		}
		if lines := strings.Split(secret, "\n"); len(lines) > 1 {
			for _, line := range lines {
				if len(line) > 16 && !strings.HasPrefix(line, "-----") {
					add(line)
				}
			}
		}
	}
	// A replacer takes the first form that fits, so the longest goes first.
	slices.SortFunc(forms, func(a, b string) int { return len(b) - len(a) })
	pairs := make([]string, 0, 2*len(forms))
	for _, form := range slices.Compact(forms) {
		pairs = append(pairs, form, redacted)
	}
	return &Redactor{replacer: strings.NewReplacer(pairs...)}
}

// Text is the text without secrets.
func (r *Redactor) Text(text string) string { return r.replacer.Replace(text) }

// Lines are the lines without secrets, in place.
func (r *Redactor) Lines(lines []string) []string {
	for i, line := range lines {
		lines[i] = r.Text(line)
	}
	return lines
}
