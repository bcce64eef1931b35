package handover

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/memvcs/mem/layers/brief"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// ErrNotDropped reports a name that names no dropped line.
var ErrNotDropped = errors.New("no such dropped line")

// ErrFixedLine reports a line that mem writes about itself.
var ErrFixedLine = errors.New("the line is about the memory itself and cannot be dropped")

// dropKey names what is dropped with an item: what it is about, if every session may give it another source; the message
// that it is from, whatever line repeats it later; else its text. A message may have several pins, so that each of them is
// named by its text.
func dropKey(it brief.Item) string {
	switch {
	case it.About != "":
		return objects.Sum([]byte(it.About)).String()
	case strings.Contains(it.Source, "#") && !it.Verbatim:
		return it.Source
	}
	return objects.Sum([]byte(it.Text)).String()
}

// hasKey reports whether an item is dropped with key: by what it is about, or with its message.
func hasKey(it brief.Item, key string) bool {
	return dropKey(it) == key || it.About != "" && it.Source == key
}

// dropped returns which items the user dropped, nil if there are none.
func dropped(st *state.State) func(brief.Item) bool {
	list := Dropped(st)
	if len(list) == 0 {
		return nil
	}
	return func(it brief.Item) bool {
		return slices.ContainsFunc(list, func(d Drop) bool { return hasKey(it, d.Key) })
	}
}

// Dropped returns the lines of a context that the user dropped, with their keys.
func (g Given) Dropped(st *state.State) map[string]string {
	is, out := dropped(st), map[string]string{}
	for _, t := range g.Told {
		if is != nil && !t.Always && is(t.Item) {
			key := dropKey(t.Item)
			out[key] = strings.TrimSpace(strings.Join([]string{out[key], t.Line}, "\n"))
		}
	}
	return out
}

// A Drop is what the user dropped from the texts for sessions.
type Drop struct {
	Key    string // a message, or the hash of a text without one
	Device string
	Time   time.Time
}

// Dropped returns what the user dropped in a project, the newest first.
func Dropped(st *state.State) (out []Drop) {
	if st == nil {
		return nil
	}
	seen := map[string]bool{}
	for _, r := range slices.Backward(st.Revokes) {
		if r.Kind != records.LineSource || seen[r.Name] {
			continue
		}
		seen[r.Name] = true
		if r.Revoked {
			out = append(out, Drop{r.Name, r.Stamp.Device, r.Time})
		}
	}
	return out
}

// DropLines drops a line of a text from this and every later text for a session of the project, with all others from the
// same message and what stands below them, and returns those. The sources stay: versions, search and pins have them as before.
func DropLines(ctx context.Context, db *state.DB, p state.Project, g Given, line int, dryRun bool) (lines []string, err error) {
	if g.Told[line].Always {
		return nil, ErrFixedLine
	}
	key := dropKey(g.Told[line].Item)
	gone := false // the line above that is no child
	for _, t := range g.Told {
		is := !t.Always && hasKey(t.Item, key)
		if !t.Child {
			gone = is
		}
		if is || t.Child && gone {
			lines = append(lines, t.Line)
		}
	}
	if dryRun {
		return lines, nil
	}
	return lines, setDropped(ctx, db, p, key, true)
}

// Undrop hands a dropped line over again. Name is its key, the start of it, or the start of the hash of a line that has
// the key; o describes the text whose lines have hashes.
func Undrop(ctx context.Context, db *state.DB, p state.Project, name string, o ContextOptions, dryRun bool) (Drop, error) {
	st, err := trust.Outline(ctx, db, p.ID)
	if err != nil {
		return Drop{}, err
	}
	list := Dropped(st)
	i := slices.IndexFunc(list, func(d Drop) bool { return d.Key == name })
	if i < 0 && len(name) >= shortestHash {
		i = slices.IndexFunc(list, func(d Drop) bool { return !strings.Contains(d.Key, "#") && strings.HasPrefix(d.Key, name) })
	}
	if i < 0 && len(name) >= shortestHash {
		o.Dropped, o.Limit = true, 1<<20
		whole, err := Context(ctx, db, p, o)
		if err != nil {
			return Drop{}, err
		}
		for k, t := range whole.Told {
			if strings.HasPrefix(whole.Lines[k].Hash, name) {
				i = slices.IndexFunc(list, func(d Drop) bool { return hasKey(t.Item, d.Key) })
			}
		}
	}
	if i < 0 {
		return Drop{}, fmt.Errorf("%s: %w", name, ErrNotDropped)
	}
	if dryRun {
		return list[i], nil
	}
	return list[i], setDropped(ctx, db, p, list[i].Key, false)
}

// shortestHash is the shortest start of a hash that names a line.
const shortestHash = 4

func setDropped(ctx context.Context, db *state.DB, p state.Project, key string, yes bool) error {
	b := records.RevokeBody{Origin: records.Origin{Kind: records.LineSource, Name: key}, Revoked: yes}
	verb := "drop"
	if !yes {
		verb = "undrop"
	}
	return db.Refs.Update(ctx, p.ID, verb+" "+b.Origin.String(), func(tx *refs.Tx) error {
		tx.Trailer("Op", "drop")
		_, err := tx.Add(records.KindRevoke, b)
		return err
	})
}
