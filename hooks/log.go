package hooks

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// logSize is the maximal size of hooks.log. A longer one is renamed to hooks.log.1.
const logSize = 256 << 10

// LogFile returns the file to which hooks of the store in dir log their errors.
func LogFile(dir string) string { return filepath.Join(dir, "cache", "hooks.log") }

// logError writes an error to the log, on one line, without content of sessions or the environment. A failure to log
// is ignored: there is no other place to report it.
func (w *World) logError(event, session string, err error) {
	if w.removed() {
		return
	}
	if checkSession(session) != nil {
		session = "-"
	}
	file := LogFile(w.Store)
	line := fmt.Appendf(nil, "%s %s %.8s %s\n", w.Now().UTC().Format(time.RFC3339), event, session, printable(err.Error()))
	_ = withDir(file, func() error { return appendRotated(file, logSize, line) }) // as above
}

// printable replaces control characters of a message and limits its length.
func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r >= 0x2028 && r <= 0x202e {
			return ' '
		}
		return r
	}, s)
	if len(s) > 400 {
		s = strings.ToValidUTF8(s[:400], "") + "..."
	}
	return s
}
