package layers

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

// What has been looked at and holds no secret is noted in the cache, so that a push need not look again. A note names content by
// its BLAKE3: what is between Base and End holds nothing. It stands in a file for the set of rules that looked, which
// is that of a version of mem, with the settings and the known values of the time; another set does not believe it. Notes are
// made where the very bytes with that name passed the rules: in a capture, and in a push. Without notes everything is looked
// at.

// A look says that rules found nothing in some content.
type look struct {
	base objects.Hash // the name of what came before it in its stream, zero for nothing
	end  objects.Hash // the name of the content up to its end
}

// maxLooks is how long a file of notes may become; then looking begins anew.
const maxLooks = 4 << 20

// lookedHead returns what a file of notes begins with: the rules and the values they know, each by a key that only this device can
// make.
func (m *Memory) lookedHead(r redact.Rules) string {
	var b strings.Builder
	fmt.Fprintf(&b, "rules %s\n", m.repo.Seal("rules "+m.opts.World.Agent+" "+r.ID))
	for _, h := range r.Known() {
		fmt.Fprintf(&b, "known %s\n", m.repo.Seal("known "+h.String()))
	}
	return b.String()
}

func (m *Memory) lookedFile(p refs.Project, head string) string {
	return m.cachePath("looked", string(p), m.repo.Seal("looked "+head))
}

// noteLooked notes what r found nothing in. A store that cannot be written does without notes.
func (m *Memory) noteLooked(p refs.Project, r redact.Rules, looks []look) {
	if len(looks) == 0 || !r.Any() {
		return
	}
	head := m.lookedHead(r)
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
		fmt.Fprintf(&b, "%s %s\n", l.base, l.end)
	}
	_, _ = f.Write(b.Bytes()) // one write, so that those of several processes stay apart; a torn line says nothing
}

// A lookedAt knows what need not be looked at again.
type lookedAt map[objects.Hash][]objects.Hash // by the ends, what came before

// looked returns what was looked at with the rules r, or with more of known values.
func (m *Memory) looked(p refs.Project, r redact.Rules) lookedAt {
	out := lookedAt{}
	want := strings.Split(strings.TrimSuffix(m.lookedHead(r), "\n"), "\n")
	dir := m.cachePath("looked", string(p))
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
		head, notes := splitLooks(b)
		if m.repo.Seal("looked "+strings.Join(head, "\n")+"\n") != f.Name() {
			continue // torn
		}
		if slices.ContainsFunc(want, func(line string) bool { return !slices.Contains(head, line) }) {
			continue // other rules, or fewer values
		}
		for _, l := range notes {
			out[l.end] = append(out[l.end], l.base)
		}
	}
	return out
}

// splitLooks reads a file of notes. Lines that are none are left out. Two who began the file both wrote its head.
func splitLooks(b []byte) (head []string, notes []look) {
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
			notes = append(notes, look{from, to})
		}
	}
	return head, notes
}

// covers reports whether all between base and end was looked at.
func (l lookedAt) covers(base, end objects.Hash) bool {
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

// noteCaptured notes what a commit brought.
func (m *Memory) noteCaptured(p refs.Project, captures []*capture) {
	byHead := map[string][]look{}
	rules := map[string]redact.Rules{}
	for _, c := range captures {
		looks := c.looks
		if c.looked != nil {
			looks = append(slices.Clone(looks), *c.looked)
		}
		if len(looks) > 0 {
			head := m.lookedHead(c.rules)
			byHead[head], rules[head] = append(byHead[head], looks...), c.rules
		}
	}
	for head, looks := range byHead {
		m.noteLooked(p, rules[head], looks)
	}
}

// A gatekeeper looks at pieces on several goroutines. The leaks come in the order of the pieces.
type gatekeeper struct {
	rules  redact.Rules
	known  lookedAt // what need not be looked at; nil: nothing
	free   chan struct{}
	wait   sync.WaitGroup
	mu     sync.Mutex
	leaks  map[int][]Leak
	clean  map[int]look
	pieces int
	err    error
	failed int // the piece of err
}

func newGatekeeper(r redact.Rules, known lookedAt, workers int) *gatekeeper {
	return &gatekeeper{rules: r, known: known, free: make(chan struct{}, max(1, workers)), leaks: map[int][]Leak{}, clean: map[int]look{}}
}

// take looks at a piece, which is told by where, while the caller goes on.
func (g *gatekeeper) take(piece refs.Piece, where Leak) error {
	l, noted := lookOf(piece)
	if noted && g.known.covers(l.base, l.end) {
		return nil
	}
	n := g.pieces
	g.pieces++
	g.free <- struct{}{}
	g.wait.Go(func() {
		defer func() { <-g.free }()
		found, err := leaksIn(piece.Content, piece.Size, piece.From, g.rules, where)
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
func lookOf(p refs.Piece) (look, bool) {
	if p.Kind == "object" {
		return look{end: p.Name}, true
	}
	return look{p.Base, p.End}, p.Kind == "stream"
}

// done waits until all pieces were looked at.
func (g *gatekeeper) done() (leaks []Leak, clean []look, err error) {
	g.wait.Wait()
	for n := range g.pieces {
		leaks = append(leaks, g.leaks[n]...)
		if l, ok := g.clean[n]; ok {
			clean = append(clean, l)
		}
	}
	return leaks, clean, g.err
}
