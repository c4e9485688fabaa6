package earlyoom

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// Pressure is one line of a pressure file: shares of time in percent over the last seconds, and
// the time stalled since the start.
type Pressure struct {
	Avg10, Avg60, Avg300 float64
	Total                time.Duration
}

// ErrNoPSI means that the kernel does not measure pressure: it is older than 4.20, built without
// CONFIG_PSI, or started without psi=1 where that is needed.
var ErrNoPSI = errors.New("the kernel does not measure memory pressure")

// readFull reads the line "full" of a pressure file. It fails with ErrNoPSI where there is no
// such file or reading it is not supported.
func readFull(path string) (Pressure, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Pressure{}, fmt.Errorf("read pressure: %w", psiMissing(err))
	}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] != "full" {
			continue
		}
		p, err := parsePressure(words[1:])
		if err != nil {
			return Pressure{}, fmt.Errorf("parse %s: %w", path, err)
		}
		return p, nil
	}
	return Pressure{}, fmt.Errorf("parse %s: no line full", path)
}

func parsePressure(words []string) (Pressure, error) {
	var p Pressure
	seen := 0
	for _, word := range words {
		key, value, _ := strings.Cut(word, "=")
		if key == "total" {
			micros, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				return Pressure{}, err
			}
			p.Total = time.Duration(micros) * time.Microsecond
			seen++
			continue
		}
		into, known := map[string]*float64{"avg10": &p.Avg10, "avg60": &p.Avg60, "avg300": &p.Avg300}[key]
		if !known {
			continue // later kernels may add more
		}
		number, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return Pressure{}, err
		}
		*into = number
		seen++
	}
	if seen != 4 {
		return Pressure{}, fmt.Errorf("got %d of avg10, avg60, avg300 and total", seen)
	}
	return p, nil
}
