package build

import (
	"bufio"
	"time"
)

// maxSaid bounds what is kept of the compiler's complaints, in lines.
const maxSaid = 50

// follow reads what go says while it builds: the name of each package that it compiles and lines
// about downloads count as progress; the rest is returned, for the error if there is one.
func (b Builder) follow(t Target, lines *bufio.Scanner, total int, began time.Time) []string {
	var said []string
	compiled, downloaded := 0, 0
	lastSaid := began
	for lines.Scan() {
		switch kind(lines.Text()) {
		case lineDownload:
			downloaded++
		case linePackage:
			compiled++
		default:
			if len(said) < maxSaid {
				said = append(said, lines.Text())
			}
			continue
		}
		if now := time.Now(); now.Sub(lastSaid) >= progressEvery {
			lastSaid = now
			if compiled == 0 {
				b.say("%s: %d modules downloaded, %s so far", t.Name, downloaded, now.Sub(began).Round(time.Second))
				continue
			}
			b.say("%s: %d of at most %d packages compiled, %s so far (usually %s)",
				t.Name, compiled, total, now.Sub(began).Round(time.Second), t.Usual)
		}
	}
	return said
}

type lineKind int

const (
	lineOther lineKind = iota
	linePackage
	lineDownload
)

// kind tells what a line of go build -v is about. Import paths have no spaces; complaints do.
func kind(line string) lineKind {
	const download = "go: downloading "
	if len(line) > len(download) && line[:len(download)] == download {
		return lineDownload
	}
	if line == "" || line[0] == '#' {
		return lineOther
	}
	for _, r := range line {
		if r == ' ' || r == '\t' || r == ':' {
			return lineOther
		}
	}
	return linePackage
}
