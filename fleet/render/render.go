// Package render makes a cluster's configuration from a template: Go templates with the sprig
// functions, then YAML that is read, checked for form and written again in one style.
package render

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"text/template"
	"time"

	"github.com/Masterminds/sprig/v3"
	"go.yaml.in/yaml/v3"
)

// Input is what a rendering may know. Everything in it is stored or derived from what is stored,
// so that the same revision always renders alike.
type Input struct {
	// Variables are parameters by key and the dc_ variables.
	Variables map[string]any
	// Seed and Now stand in for chance and clock in templates.
	Seed [32]byte
	Now  time.Time
}

// Problem tells why a section could not be rendered. Line is 1-based, 0 when unknown.
type Problem struct {
	Kind string // "template" or "yaml"
	Line int
	Text string
}

func (p *Problem) Error() string { return p.Text }

// maxOutput bounds what a template may produce, in bytes.
const maxOutput = 4 << 20

// Section renders one template and returns normalised YAML: documents separated by "---", empty
// ones left out, keys in the author's order, two spaces of indentation.
func Section(name, text string, in Input) (string, error) {
	if strings.TrimSpace(text) == "" {
		return "", nil
	}
	parsed, err := template.New(name).Funcs(functions(in)).Option("missingkey=zero").Parse(text)
	if err != nil {
		return "", templateProblem(name, err)
	}
	var out bytes.Buffer
	if err := parsed.Execute(&bounded{w: &out, left: maxOutput}, in.Variables); err != nil {
		return "", templateProblem(name, err)
	}
	return Normalise(strings.ReplaceAll(out.String(), "<no value>", ""))
}

// Normalise reads YAML of any number of documents and writes it in one style.
func Normalise(text string) (string, error) {
	var out bytes.Buffer
	decoder := yaml.NewDecoder(strings.NewReader(text))
	for {
		var document yaml.Node
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return out.String(), nil
		}
		if err != nil {
			return "", yamlProblem(err)
		}
		if isEmpty(&document) {
			continue
		}
		if root := document.Content[0]; root.Kind != yaml.MappingNode {
			return "", &Problem{Kind: "yaml", Line: root.Line, Text: "a document must be a mapping of keys to values"}
		}
		// The form alone allows what has no meaning: a key twice, aliases that grow beyond measure.
		var meaning any
		if err := document.Decode(&meaning); err != nil {
			return "", yamlProblem(err)
		}
		if out.Len() > 0 {
			out.WriteString("---\n")
		}
		encoder := yaml.NewEncoder(&out)
		encoder.SetIndent(2)
		if err := encoder.Encode(&document); err != nil {
			return "", yamlProblem(err)
		}
		if err := encoder.Close(); err != nil {
			return "", yamlProblem(err)
		}
	}
}

func isEmpty(document *yaml.Node) bool {
	return len(document.Content) == 0 || document.Content[0].Tag == "!!null"
}

type bounded struct {
	w    io.Writer
	left int
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		return 0, fmt.Errorf("the template produces more than %d MiB", maxOutput>>20)
	}
	return b.w.Write(p)
}

// banned are sprig's functions that read the environment or the network, or make keys that
// could not be made the same way again.
var banned = []string{
	"env", "expandenv", "getHostByName",
	"genPrivateKey", "genCA", "genCAWithKey", "genSelfSignedCert", "genSelfSignedCertWithKey",
	"genSignedCert", "genSignedCertWithKey", "derivePassword", "encryptAES", "htpasswd", "bcrypt", "buildCustomCert",
}

func functions(in Input) template.FuncMap {
	set := sprig.TxtFuncMap()
	for _, name := range banned {
		delete(set, name)
	}
	source := rand.New(rand.NewChaCha8(in.Seed))
	pick := func(alphabet string) func(int) string {
		return func(length int) string {
			text := make([]byte, max(0, min(length, 1<<16)))
			for i := range text {
				text[i] = alphabet[source.IntN(len(alphabet))]
			}
			return string(text)
		}
	}
	const digits, letters = "0123456789", "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	const printable = "!#%+,-./:=?@_"
	set["randNumeric"] = pick(digits)
	set["randAlpha"] = pick(letters)
	set["randAlphaNum"] = pick(digits + letters)
	set["randAscii"] = pick(digits + letters + printable)
	set["randBytes"] = pick(digits + letters)
	set["randInt"] = func(low, high int) int {
		if high <= low {
			return low
		}
		return low + source.IntN(high-low)
	}
	set["shuffle"] = func(text string) string {
		runes := []rune(text)
		source.Shuffle(len(runes), func(i, j int) { runes[i], runes[j] = runes[j], runes[i] })
		return string(runes)
	}
	set["uuidv4"] = func() string {
		var b [16]byte
		for i := range b {
			b[i] = byte(source.UintN(256))
		}
		b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
		return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:16])
	}
	set["now"] = func() time.Time { return in.Now }
	set["ago"] = func(t time.Time) string { return in.Now.Sub(t).Round(time.Second).String() }
	return set
}
