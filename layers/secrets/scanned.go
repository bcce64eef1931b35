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
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs"
)

// Notes in the cache name scanned content without secrets, so that a push need not scan it again. A note names
// content by its BLAKE3: there is no secret between Base and End. Each set of rules (version of mem, settings, known
// values) has its own file. Captures and pushes write notes for bytes that passed the rules. Without notes
// everything is scanned.

// A CleanSpan records that the rules found nothing in some content.
type CleanSpan struct {
	Base objects.Hash // hash of the stream before it, zero at the start
	End  objects.Hash // hash of the stream up to its end
}

// maxScanned is the maximal size of a file of notes. A larger file is deleted.
const maxScanned = 4 << 20

// ScanHead returns the head of a file of notes: the rules and the known values, each as a keyed hash of this
// device.
func ScanHead(db *state.DB, r redact.Rules) string {
	var b strings.Builder
	fmt.Fprintf(&b, "rules %s\n", db.Refs.MAC("rules "+db.Opts.World.Agent+" "+r.ID))
	for _, h := range r.Known() {
		fmt.Fprintf(&b, "known %s\n", db.Refs.MAC("known "+h.String()))
	}
	return b.String()
}

func scanFile(db *state.DB, p refs.Project, head string) string {
	return db.CachePath("looked", string(p), db.Refs.MAC("looked "+head))
}

// RecordScanned records content without secrets. If the store cannot be written, it records nothing.
func RecordScanned(db *state.DB, p refs.Project, r redact.Rules, looks []CleanSpan) {
	if len(looks) == 0 || !r.Any() {
		return
	}
	head := ScanHead(db, r)
	file := scanFile(db, p, head)
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
	_, _ = f.Write(b.Bytes()) // one write, so that processes do not interleave; torn lines are ignored
}

// A cleanSpans is the content that need not be scanned again.
type cleanSpans map[objects.Hash][]objects.Hash // bases by end

// Scanned returns the content scanned with the rules r, or with more known values.
func Scanned(db *state.DB, p refs.Project, r redact.Rules) cleanSpans {
	out := cleanSpans{}
	want := strings.Split(strings.TrimSuffix(ScanHead(db, r), "\n"), "\n")
	dir := db.CachePath("looked", string(p))
	files, err := os.ReadDir(dir)
	if err != nil {
		return out
	}
	for _, f := range files {
		file := filepath.Join(dir, f.Name())
		if fi, err := f.Info(); err != nil || !fi.Mode().IsRegular() || fi.Size() > maxScanned {
			os.Remove(file) // start again
			continue
		}
		b, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		head, notes := ParseScanned(b)
		if db.Refs.MAC("looked "+strings.Join(head, "\n")+"\n") != f.Name() {
			continue // torn
		}
		if slices.ContainsFunc(want, func(line string) bool { return !slices.Contains(head, line) }) {
			continue // other rules or fewer known values
		}
		for _, l := range notes {
			out[l.End] = append(out[l.End], l.Base)
		}
	}
	return out
}

// ParseScanned parses a file of notes. It ignores malformed lines. Two processes that created the file both wrote the
// head.
func ParseScanned(b []byte) (head []string, notes []CleanSpan) {
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
			notes = append(notes, CleanSpan{from, to})
		}
	}
	return head, notes
}

// Covers reports whether everything between base and end was scanned.
func (l cleanSpans) Covers(base, end objects.Hash) bool {
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

// A gatekeeper scans pieces on several goroutines. It returns leaks in the order of the pieces.
type gatekeeper struct {
	rules  redact.Rules
	known  cleanSpans // scanned content to skip; may be nil
	free   chan struct{}
	wait   sync.WaitGroup
	mu     sync.Mutex
	leaks  map[int][]Leak
	clean  map[int]CleanSpan
	pieces int
	err    error
	failed int // index of the piece of err
}

func newGatekeeper(r redact.Rules, known cleanSpans, workers int) *gatekeeper {
	return &gatekeeper{rules: r, known: known, free: make(chan struct{}, max(1, workers)), leaks: map[int][]Leak{},
		clean: map[int]CleanSpan{}}
}

// take starts the scan of a piece, described by where.
func (g *gatekeeper) take(piece refs.Piece, where Leak) error {
	l, noted := spanOf(piece)
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

// spanOf returns the note for a piece without secrets. ok is false for kinds without notes, which are short.
func spanOf(p refs.Piece) (CleanSpan, bool) {
	if p.Kind == "object" {
		return CleanSpan{End: p.Name}, true
	}
	return CleanSpan{p.Base, p.End}, p.Kind == "stream"
}

// done waits for all scans.
func (g *gatekeeper) done() (leaks []Leak, clean []CleanSpan, err error) {
	g.wait.Wait()
	for n := range g.pieces {
		leaks = append(leaks, g.leaks[n]...)
		if l, ok := g.clean[n]; ok {
			clean = append(clean, l)
		}
	}
	return leaks, clean, g.err
}
