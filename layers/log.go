package layers

import (
	"cmp"
	"context"
	"slices"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// A ledger is the cached log of a project, newest first. It grows from the tips it was made at. What was read from the cache is
// decoded as it is gone through: see [cursor].
type ledger struct {
	format  int
	tips    []refs.Tip
	entries []refs.Entry // if they are decoded
	stored  *codec       // else before the first of them
	n       int          // how many are stored
	falls   bool         // no stored one has a later time than the one before it
}

const ledgerVersion = 1

// fewEntries is up to how many operations are read from their commits rather than from the ledger.
const fewEntries = 64

// Log returns the newest n operations of a project, newest first; n of 0 returns all.
func (m *Memory) Log(ctx context.Context, p refs.Project, n int) ([]refs.Entry, error) {
	if n > 0 && n <= fewEntries {
		var out []refs.Entry
		for e, err := range m.repo.Log(ctx, p, nil) {
			if err != nil {
				return nil, err
			}
			if out = append(out, e); len(out) == n {
				break
			}
		}
		return out, nil
	}
	l, err := m.ledger(ctx, p)
	if err != nil {
		return nil, err
	}
	return l.newest(p, n), nil
}

// ledger returns the ledger of a project, brought up to date.
func (m *Memory) ledger(ctx context.Context, p refs.Project) (*ledger, error) {
	var tips []refs.Tip
	err := m.repo.View(ctx, p, func(tx *refs.Tx) error { tips = tx.Tips(); return nil })
	if err != nil {
		return nil, err
	}
	file := m.cachePath("log", string(p))
	l := &ledger{}
	if s, ok := readCacheText(file); !ok || !l.read(s) {
		l = &ledger{format: ledgerVersion}
	}
	if slices.Equal(l.tips, tips) {
		return l, nil
	}
	ok, err := m.extend(ctx, p, l, tips)
	if err == nil && !ok { // a lane was rewritten: from the start
		l = &ledger{format: ledgerVersion}
		_, err = m.extend(ctx, p, l, tips)
	}
	if err != nil {
		return nil, err
	}
	m.writeCacheBytes(file, encode(l.code))
	return l, nil
}

// extend adds what came since the tips of l. It reports false if a lane does not go on from its tip; l is
// useless then.
func (m *Memory) extend(ctx context.Context, p refs.Project, l *ledger, now []refs.Tip) (bool, error) {
	newest, oldest := map[string]string{}, map[string]string{} // by device: commit of the first entry, parent of the last
	var fresh []refs.Entry
	for e, err := range m.repo.Log(ctx, p, l.tips) {
		if err != nil {
			return false, err
		}
		if newest[e.Device] == "" {
			newest[e.Device] = e.Commit
		}
		oldest[e.Device] = e.Parent
		fresh = append(fresh, e)
	}
	for _, t := range l.tips {
		here := slices.ContainsFunc(now, func(n refs.Tip) bool { return n.Device == t.Device })
		if !here || newest[t.Device] != "" && oldest[t.Device] != t.Commit {
			return false, nil
		}
		if newest[t.Device] == "" {
			newest[t.Device] = t.Commit
		}
	}
	l.entries, l.stored = mergeEntries(fresh, l.newest(p, 0)), nil
	l.tips = nil
	for device, commit := range newest {
		l.tips = append(l.tips, refs.Tip{Device: device, Commit: commit})
	}
	slices.SortFunc(l.tips, func(a, b refs.Tip) int { return cmp.Compare(a.Device, b.Device) })
	return true, nil
}

// mergeEntries merges two logs, each newest first.
func mergeEntries(a, b []refs.Entry) []refs.Entry {
	out := make([]refs.Entry, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if cmp.Or(cmp.Compare(a[0].Lamport, b[0].Lamport), cmp.Compare(a[0].Device, b[0].Device)) >= 0 {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// code writes the ledger; read reads it.
func (l *ledger) code(c *codec) {
	l.codeHead(c)
	list(c, &l.entries, func(e *refs.Entry) { codeEntry(c, e) })
}

func (l *ledger) codeHead(c *codec) {
	number(c, &l.format)
	if l.format != ledgerVersion {
		c.failed = true
		return
	}
	codeTips(c, &l.tips)
}

// codeEntry leaves out the project, which is known. Trailers are read into the room of those of e.
func codeEntry(c *codec, e *refs.Entry) {
	word(c, &e.Commit)
	word(c, &e.Parent)
	word(c, &e.Device)
	word(c, &e.Name)
	c.time(&e.Time)
	c.uint(&e.Lamport)
	word(c, &e.Subject)
	c.words(&e.Trailers)
}

// LogOf returns the operations that made, changed or used what rev names, newest first: of a session also
// those of its versions and of compositions that have a part of it. Of a commit it is the log from there on.
func (m *Memory) LogOf(ctx context.Context, rev Rev) ([]refs.Entry, error) {
	entries, err := m.Log(ctx, rev.Project.ID, 0)
	if err != nil {
		return nil, err
	}
	if rev.Kind == IsCommit {
		i := slices.IndexFunc(entries, func(e refs.Entry) bool { return e.Commit == rev.Commit })
		return entries[max(i, 0):], nil
	}
	st, err := m.Outline(ctx, rev.Project.ID)
	if err != nil {
		return nil, err
	}
	return touching(entries, st.stampsOf(rev)), nil
}

// touching returns the entries whose commits brought one of the records: those of a commit have Lamport
// times above that of the commit before it in the lane.
func touching(entries []refs.Entry, stamps []stamp) []refs.Entry {
	times := map[string][]uint64{}
	for _, s := range stamps {
		times[s.Device] = append(times[s.Device], s.Lamport)
	}
	for _, t := range times {
		slices.Sort(t)
	}
	var out []refs.Entry
	before := map[string]uint64{}
	for _, e := range slices.Backward(entries) {
		t := times[e.Device]
		i, _ := slices.BinarySearch(t, before[e.Device]+1)
		if i < len(t) && t[i] <= e.Lamport {
			out = append(out, e)
		}
		before[e.Device] = e.Lamport
	}
	slices.Reverse(out)
	return out
}

// stampsOf returns the stamps of the records that speak of what rev names.
func (st *State) stampsOf(rev Rev) []stamp {
	var out []stamp
	target, _, _ := rev.target()
	targets := map[string]bool{target: target != ""}
	session, label, name := "", "", ""
	hash := objects.Hash{}
	switch {
	case rev.Kind == IsObject:
		hash = rev.Hash
	case rev.Composition != nil:
		name = rev.Composition.Name
	case rev.Version != nil:
		session, label = rev.Version.Session, rev.Version.Label
	case rev.Session != nil:
		session = rev.Session.ID
		targets["session/"+session] = true
	}
	for _, s := range st.Sessions {
		for _, p := range s.Points {
			if label == "" && s.ID == session || p.Original == hash {
				out = append(out, p.Stamp)
			}
		}
	}
	for _, v := range st.Stored.Versions {
		ofSession := session != "" && v.Body.Session == session && (label == "" || v.Stamp.Record == rev.versionID())
		if ofSession || v.Body.Derivation.Output == hash {
			out = append(out, v.Stamp)
			targets["version/"+v.Stamp.Record.String()] = true
		}
	}
	for _, c := range st.Stored.Compositions {
		uses := session != "" && slices.ContainsFunc(c.Body.Parts, func(p CompositionPart) bool {
			return p.Session == session && (label == "" || p.Label == label)
		})
		if uses || name != "" && c.Body.Name == name || c.Body.Derivation.Output == hash {
			out = append(out, c.Stamp)
		}
	}
	for _, o := range st.Keepits {
		if session != "" && label == "" && o.Session == session {
			out = append(out, o.Stamp)
		}
	}
	for _, a := range st.Sets {
		if targets[a.Target] {
			out = append(out, a.Stamp)
		}
	}
	return out
}

func (r Rev) versionID() (id objects.Hash) {
	if r.Version != nil {
		id = r.Version.ID
	}
	return id
}
