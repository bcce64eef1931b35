package hooks

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/memvcs/mem/hooks/settings"
	"github.com/memvcs/mem/layers/handover"
	"github.com/memvcs/mem/layers/state"
)

// A Handed is what a hook handed over to a session, without its text: a line of the file that "mem log --handed" reads.
type Handed struct {
	Time    time.Time       `json:"time"`
	Session string          `json:"session"`
	Project string          `json:"project"`
	Event   settings.Event  `json:"event"`
	Units   int             `json:"units"` // UTF-16 units of the text
	Hash    string          `json:"hash"`  // of the text, keyed by this device
	Lines   []handover.Line `json:"lines"`
}

// handedSize is how long the file of what was handed over may get; the one before it is kept beside it.
const handedSize = 1 << 20

// HandedFile returns the file in which hooks of the store in dir note what they handed over. It is not in the
// cache, for nothing can make it again.
func HandedFile(dir string) string { return filepath.Join(dir, "hooks", "handed") }

// noteHanded notes what was handed over. What cannot be noted is in the log.
func (r *run) noteHanded(p state.Project, given handover.Given) {
	b, err := json.Marshal(Handed{Time: r.Now().UTC(), Session: r.p.Session, Project: string(p.ID), Event: r.event,
		Units: given.Units, Hash: given.Hash, Lines: given.Lines})
	if err == nil {
		err = r.appendHanded(append(b, '\n'))
	}
	if err != nil {
		r.note(string(r.event), r.p.Session, cause(err))
	}
}

func (w *World) appendHanded(b []byte) error {
	file := HandedFile(w.Store)
	if fi, err := os.Lstat(file); err == nil && fi.Size() > handedSize {
		putAside(file, handedSize)
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_APPEND|noFollow, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(filepath.Dir(file), 0o700); err == nil {
			f, err = os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_APPEND|noFollow, 0o600)
		}
	}
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Close())
}

// ReadHanded returns what was handed over by hooks of the store in dir, the oldest first.
func ReadHanded(dir string) (out []Handed, err error) {
	for _, file := range []string{HandedFile(dir) + ".1", HandedFile(dir)} {
		b, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(b)) {
			var h Handed
			if json.Unmarshal([]byte(line), &h) == nil { // else of a writer that was killed
				out = append(out, h)
			}
		}
	}
	return out, nil
}
