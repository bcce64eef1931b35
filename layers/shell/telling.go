package shell

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/memvcs/mem/layers/tokens"
)

var (
	tells = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)error|fail|panic|fatal|cannot|can't|could not|unable|undefined|denied|not found|unknown|invalid|assert|expected|exception|missing|refused|[✘✗×]`)
	})
	// restates matches a line that only says that something failed which it started.
	restates = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(script|task|command|process|recipe)\b.{0,80}\b(exited with( (code|status))? \d+|failed)\W*$|^exit (code|status) \d+$`)
	})
	// good matches a line about what passed.
	good = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(ok\s|PASS\b|--- PASS)`) })
	// misuses matches a line about a command, or an option of it, that does not exist, and its name.
	misuses = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(?:(?:unrecognized|unknown|no such) (?:sub)?(?:command|option|flag|argument)|script not found|missing script)\b\W*([\w:.-]*)`)
	})
	// warns matches a line that tells of no error: a command that is echoed, a warning, a line of the code that it is about.
	warns = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^\W*(\$ |(npm )?warn(ing)?\b|\w+\] warn(ing)?\b)|^\W*(\d+\s+)+[│|]`)
	})
)

// TellsError reports whether a line of an output tells of an error.
func TellsError(line string) bool {
	return tells().MatchString(line) && !warns().MatchString(line)
}

// IsMisuse reports whether the lines of an output say that there is no such command or option as a word of the command, and tell of
// no other error.
func IsMisuse(cmd string, lines []string) bool {
	found := false
	for _, line := range lines {
		m := misuses().FindStringSubmatch(line)
		misused := m != nil && slices.ContainsFunc(strings.Fields(cmd), func(w string) bool {
			w, _, _ = strings.Cut(strings.TrimLeft(w, "-"), "=")
			return w == m[1]
		})
		if found = found || misused; !misused && TellsError(line) && !restates().MatchString(line) {
			return false
		}
	}
	return found
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
		case restates().MatchString(line):
			if !passed {
				last = cmp.Or(last, line)
			}
		case !TellsError(line):
			if line != "" && !passed && !good().MatchString(line) {
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
