package secrets

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs"
)

// What has been looked at and holds no secret is noted in the cache, so that a push need not look again. A note
// names content by its BLAKE3: what is between Base and End holds nothing. It stands in a file for the set of
// rules that looked, which is that of a version of mem, with the settings and the known values of the time;
// another set does not believe it. Notes are made where the very bytes with that name passed the rules: in a
// capture, and in a push. Without notes everything is looked at.

// A look says that rules found nothing in some content.
type Look struct {
	Base objects.Hash // the name of what came before it in its stream, zero for nothing
	End  objects.Hash // the name of the content up to its end
}

// maxLooks is how long a file of notes may become; then looking begins anew.
const maxLooks = 4 << 20

// LookedHead returns what a file of notes begins with: the rules and the values they know, each by a key that
// only this device can make.
func (m Ops) LookedHead(r redact.Rules) string {
	var b strings.Builder
	fmt.Fprintf(&b, "rules %s\n", m.Refs.Seal("rules "+m.Opts.World.Agent+" "+r.ID))
	for _, h := range r.Known() {
		fmt.Fprintf(&b, "known %s\n", m.Refs.Seal("known "+h.String()))
	}
	return b.String()
}

func (m Ops) lookedFile(p refs.Project, head string) string {
	return m.CachePath("looked", string(p), m.Refs.Seal("looked "+head))
}

// NoteLooked notes what r found nothing in. A store that cannot be written does without notes.
func (m Ops) NoteLooked(p refs.Project, r redact.Rules, looks []Look) {
	if len(looks) == 0 || !r.Any() {
		return
	}
	head := m.LookedHead(r)
	file := m.lookedFile(p, head)
	if os.MkdirAll(filepath.Dir(file), 0o700) != nil {
		return
	}
	if errors.Is(pack.CheckFile(file), pack.ErrNotFile) && os.RemoveAll(file) != nil {
		return
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	var b bytes.Buffer
	if fi, err := f.Stat(); err != nil || fi.Size() == 0 {
		b.WriteString(head)
	}
	for _, l := range looks {
		fmt.Fprintf(&b, "%s %s\n", l.Base, l.End)
	}
	_, _ = f.Write(b.Bytes()) // one write, so that those of several processes stay apart; a torn line says nothing
}

// A lookedAt knows what need not be looked at again.
type lookedAt map[objects.Hash][]objects.Hash // by the ends, what came before

// Looked returns what was looked at with the rules r, or with more of known values.
func (m Ops) Looked(p refs.Project, r redact.Rules) lookedAt {
	out := lookedAt{}
	want := strings.Split(strings.TrimSuffix(m.LookedHead(r), "\n"), "\n")
	dir := m.CachePath("looked", string(p))
	files, err := os.ReadDir(dir)
	if err != nil {
		return out
	}
	for _, f := range files {
		file := filepath.Join(dir, f.Name())
		if fi, err := f.Info(); err != nil || !fi.Mode().IsRegular() || fi.Size() > maxLooks {
			os.Remove(file) // it grows again
			continue
		}
		b, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		head, notes := SplitLooks(b)
		if m.Refs.Seal("looked "+strings.Join(head, "\n")+"\n") != f.Name() {
			continue // torn
		}
		if slices.ContainsFunc(want, func(line string) bool { return !slices.Contains(head, line) }) {
			continue // other rules, or fewer values
		}
		for _, l := range notes {
			out[l.End] = append(out[l.End], l.Base)
		}
	}
	return out
}

// SplitLooks reads a file of notes. Lines that are none are left out. Two who began the file both wrote its head.
func SplitLooks(b []byte) (head []string, notes []Look) {
	for line := range bytes.Lines(b) {
		text, whole := bytes.CutSuffix(line, []byte("\n"))
		base, end, ok := strings.Cut(string(text), " ")
		if !ok || !whole {
			continue
		}
		if base == "rules" || base == "known" {
			if !slices.Contains(head, string(text)) {
				head = append(head, string(text))
			}
			continue
		}
		from, err := objects.ParseHash(base)
		if err != nil {
			continue
		}
		if to, err := objects.ParseHash(end); err == nil {
			notes = append(notes, Look{from, to})
		}
	}
	return head, notes
}

// Covers reports whether all between base and end was looked at.
func (l lookedAt) Covers(base, end objects.Hash) bool {
	seen := map[objects.Hash]bool{}
	todo := []objects.Hash{end}
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if at == base {
			return true
		}
		if seen[at] {
			continue
		}
		seen[at] = true
		todo = append(todo, l[at]...)
	}
	return false
}

// A gatekeeper looks at pieces on several goroutines. The leaks come in the order of the pieces.
type gatekeeper struct {
	rules  redact.Rules
	known  lookedAt // what need not be looked at; nil: nothing
	free   chan struct{}
	wait   sync.WaitGroup
	mu     sync.Mutex
	leaks  map[int][]Leak
	clean  map[int]Look
	pieces int
	err    error
	failed int // the piece of err
}

func newGatekeeper(r redact.Rules, known lookedAt, workers int) *gatekeeper {
	return &gatekeeper{rules: r, known: known, free: make(chan struct{}, max(1, workers)), leaks: map[int][]Leak{},
		clean: map[int]Look{}}
}

// take looks at a piece, which is told by where, while the caller goes on.
func (g *gatekeeper) take(piece refs.Piece, where Leak) error {
	l, noted := lookOf(piece)
	if noted && g.known.Covers(l.Base, l.End) {
		return nil
	}
	n := g.pieces
	g.pieces++
	g.free <- struct{}{}
	g.wait.Go(func() {
		defer func() { <-g.free }()
		found, err := LeaksIn(piece.Content, piece.Size, piece.From, g.rules, where)
		g.mu.Lock()
		defer g.mu.Unlock()
		switch {
		case err != nil && (g.err == nil || n < g.failed):
			g.err, g.failed = fmt.Errorf("scan %s %s: %w", piece.Kind, piece.Name.Short(), err), n
		case len(found) > 0:
			g.leaks[n] = found
		case err == nil && noted:
			g.clean[n] = l
		}
	})
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.err
}

// lookOf returns the note about a piece without secrets, and whether one is made of its kind: the others are short.
func lookOf(p refs.Piece) (Look, bool) {
	if p.Kind == "object" {
		return Look{End: p.Name}, true
	}
	return Look{p.Base, p.End}, p.Kind == "stream"
}

// done waits until all pieces were looked at.
func (g *gatekeeper) done() (leaks []Leak, clean []Look, err error) {
	g.wait.Wait()
	for n := range g.pieces {
		leaks = append(leaks, g.leaks[n]...)
		if l, ok := g.clean[n]; ok {
			clean = append(clean, l)
		}
	}
	return leaks, clean, g.err
}
