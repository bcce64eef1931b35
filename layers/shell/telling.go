package shell

import (
	"cmp"
	"regexp"
	"strings"
	"sync"

	"github.com/memvcs/mem/layers/tokens"
)

var (
	tells = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)error|fail|panic|fatal|cannot|can't|could not|unable|undefined|denied|not found|unknown|invalid|assert|expected|exception|missing|refused|[✘✗×]`)
	})
	// warns matches a line that tells of no error: a command that is echoed, a warning.
	warns = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^\W*(\$ |(npm )?warn(ing)?\b|\w+\] warn(ing)?\b)`)
	})
)

// TellsError reports whether a line of an output tells of an error.
func TellsError(line string) bool {
	return tells().MatchString(line) && !warns().MatchString(line)
}

// TellingLine returns the first line of an output that tells of an error, or what leads in to one with the line below it, or else the last line; of what
// passed later it is "" if there is no error. It has at most 200 bytes.
func TellingLine(output string, passed bool) string {
	led, last := "", ""
	for line := range strings.Lines(strings.ReplaceAll(output, `\n`, "\n")) {
		line = tokens.Clip(line, 200)
		if strings.HasSuffix(led, ":") && line != "" {
			led = tokens.Clip(led+" "+line, 200)
		}
		switch {
		case !TellsError(line):
			if line != "" && !passed {
				last = line
			}
		case strings.HasSuffix(line, ":"):
			led = cmp.Or(led, line)
		default:
			return line
		}
	}
	return cmp.Or(led, last)
}
