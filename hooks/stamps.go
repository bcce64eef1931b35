package hooks

import (
	"fmt"
	"os"
	"strings"

	"github.com/memvcs/mem/layers/capture"
)

// A stamp is the size and time of a file before it was captured. A file with the same stamp need not be read again. It
// is only a cache for the next hook; SessionStart compares the file with the memory.
type stamp struct {
	size     int64
	modified int64
}

func stat(path string) (stamp, bool) {
	fi, err := os.Lstat(path)
	if err != nil || !fi.Mode().IsRegular() {
		return stamp{}, false
	}
	at := stamp{fi.Size(), fi.ModTime().UnixNano()}
	if _, ok := capture.SubagentOf(path); ok {
		// The client's notes about a subagent are captured with its file. It changes them after SubagentStop.
		if meta, err := os.Lstat(strings.TrimSuffix(path, ".jsonl") + ".meta.json"); err == nil {
			at.size, at.modified = at.size+meta.Size(), max(at.modified, meta.ModTime().UnixNano())
		}
	}
	return at, true
}

// noProject stands for the project of a file that is no session.
const noProject = "none"

func (w *World) stampFile(path string) string {
	id := capture.Source{Path: path}.SessionID()
	if checkSession(id) != nil {
		return ""
	}
	return w.sessionFile(id, ".seen")
}

// recordStamp records that a file was captured when it had the stamp s. Without the record the file is read again.
func (w *World) recordStamp(path string, s stamp, project string) {
	file := w.stampFile(path)
	if file == "" || w.removed() {
		return
	}
	b := fmt.Appendf(nil, "%d %d %s %s\n", s.size, s.modified, project, path)
	_ = withDir(file, func() error { return overwrite(file, b) }) // as above
}

// capturedAs returns the project that a file was captured into, if it still looks as it did then.
func (w *World) capturedAs(path string) (project string, ok bool) {
	file := w.stampFile(path)
	if file == "" {
		return "", false
	}
	b, err := os.ReadFile(file)
	now, there := stat(path)
	if err != nil || !there {
		return "", false
	}
	rest, ok := strings.CutPrefix(string(b), fmt.Sprintf("%d %d ", now.size, now.modified))
	if !ok {
		return "", false
	}
	project, of, ok := strings.Cut(strings.TrimSuffix(rest, "\n"), " ")
	return project, ok && of == path && strings.HasSuffix(rest, "\n")
}

func (w *World) unchanged(path string) bool {
	_, ok := w.capturedAs(path)
	return ok
}

// dropStamp makes the next capture read a file again.
func (w *World) dropStamp(path string) {
	if file := w.stampFile(path); file != "" {
		os.Remove(file) // if it stays, the file has not changed since
	}
}
