package hooks

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// logSize is how long hooks.log may get; the one before it is kept beside it.
const logSize = 256 << 10

// LogFile returns the file in which hooks of the store in dir say what went wrong.
func LogFile(dir string) string { return filepath.Join(dir, "cache", "hooks.log") }

// note writes one line to the log: what happened, never what a session holds and nothing of the environment.
// What cannot be logged is lost: a hook has nobody else to tell.
func (w *World) note(event, session string, err error) {
	file := LogFile(w.Store)
	if fi, statErr := os.Lstat(file); statErr == nil && fi.Size() > logSize {
		putAside(file, logSize)
	} else if statErr != nil && (w.removed() || os.MkdirAll(filepath.Dir(file), 0o700) != nil) {
		return
	}
	f, openErr := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_APPEND|noFollow, 0o600)
	if openErr != nil {
		return
	}
	defer f.Close()
	if checkSession(session) != nil {
		session = "-"
	}
	line := fmt.Sprintf("%s %s %.8s %s\n", w.Now().UTC().Format(time.RFC3339), event, session, oneLine(err.Error()))
	_, _ = f.WriteString(line)
}

// putAside renames a file that has grown beyond most bytes, unless another hook is at it or has just done so:
// it would put the new one in the place of the old. A file that cannot be renamed grows on.
func putAside(file string, most int64) {
	unlock, ok, err := lockNow(file + ".lock")
	if err != nil || !ok {
		return
	}
	defer unlock()
	if fi, err := os.Lstat(file); err == nil && fi.Size() > most {
		_ = os.Rename(file, file+".1") // as above
	}
}

// oneLine makes a message printable and short.
func oneLine(s string) string {
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
