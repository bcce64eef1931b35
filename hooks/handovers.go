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

// A Handover describes what a hook handed over to a session, without the text. It is one line of [HandoverFile], as
// JSON.
type Handover struct {
	Time    time.Time       `json:"time"`
	Session string          `json:"session"`
	Project string          `json:"project"`
	Event   settings.Event  `json:"event"`
	Units   int             `json:"units"` // UTF-16 units of the text
	Hash    string          `json:"hash"`  // of the text, keyed by this device
	Lines   []handover.Line `json:"lines"`
}

// handoverSize is the maximal size of [HandoverFile]. A longer one is renamed to "handed.1".
const handoverSize = 1 << 20

// HandoverFile returns the log of hand-overs of the store in dir. It is not in the cache because it cannot be rebuilt.
func HandoverFile(dir string) string { return filepath.Join(dir, "hooks", "handed") }

// recordHandover appends to the log of hand-overs.
func (r *run) recordHandover(p state.Project, given handover.Given) {
	b, err := json.Marshal(Handover{Time: r.Now().UTC(), Session: r.p.Session, Project: string(p.ID), Event: r.event,
		Units: given.Units, Hash: given.Hash, Lines: given.Lines})
	if err == nil {
		file := HandoverFile(r.Store)
		err = withDir(file, func() error { return appendRotated(file, handoverSize, append(b, '\n')) })
	}
	if err != nil {
		r.logError(string(r.event), r.p.Session, withoutPath(err))
	}
}

// ReadHandovers returns the hand-overs of the store in dir, the oldest first.
func ReadHandovers(dir string) (out []Handover, err error) {
	for _, file := range []string{HandoverFile(dir) + ".1", HandoverFile(dir)} {
		b, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(b)) {
			var h Handover
			if json.Unmarshal([]byte(line), &h) == nil { // else a writer was killed
				out = append(out, h)
			}
		}
	}
	return out, nil
}

// deliveredExt ends the names of files with the keys of passages that a session has got.
const deliveredExt = ".had"

// delivered returns the keys of the passages that the session has got. They are not handed over again.
func (r *run) delivered() map[string]bool {
	out := map[string]bool{}
	b, err := os.ReadFile(r.sessionFile(r.p.Session, deliveredExt))
	if err != nil {
		return out // if it is lost with the cache, a passage is handed over twice
	}
	for line := range strings.Lines(string(b)) {
		var key string
		if json.Unmarshal([]byte(line), &key) == nil {
			out[key] = true
		}
	}
	return out
}

// recordDelivered records the keys of passages that the session has got.
func (r *run) recordDelivered(keys []string) {
	var b []byte
	for _, key := range keys {
		line, err := json.Marshal(key)
		if err != nil {
			continue
		}
		b = append(append(b, line...), '\n')
	}
	_ = writeFile(r.sessionFile(r.p.Session, deliveredExt), os.O_APPEND, b) // as above
}
