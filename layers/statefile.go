package layers

import (
	"context"
	"slices"

	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// A State is cached in two files. The outline holds what lists, names and logs need, and is read by every
// command. The bulk holds the rest, which only adding and deriving need: plans, the keys of typed messages,
// unread queues. Each names the tips it was made at and is brought up to date from there on its own, so
// neither depends on the other.

// stateVersion is the version of both files; another one is rebuilt.
const stateVersion = 16

// A bulk is what the outline leaves out of one record.
type bulk struct {
	params []byte           // of a version's or composition's recipe
	typed  []TypedKey       // of a session's snapshot
	keys   []transcript.Key // of a composition
	queue  transcript.Queue // of a session's snapshot
}

// bulks are the bulk of a project's records, by record.
type bulks struct {
	tips []refs.Tip
	of   map[objects.Hash]bulk
}

// A history reads the records of a project since some tips, once.
type history struct {
	tx      *refs.Tx
	tips    []refs.Tip
	read    bool
	since   []refs.Tip
	follows bool
	records []refs.Record
}

// after returns the records that came after the tips. If a lane does not go on from them, follows is false
// and the records are all there are.
func (h *history) after(ctx context.Context, tips []refs.Tip) (records []refs.Record, follows bool, err error) {
	if h.read && slices.Equal(tips, h.since) {
		return h.records, h.follows, nil
	}
	h.read, h.since = true, tips
	if h.follows, err = h.tx.Follows(tips); err != nil {
		return nil, false, err
	}
	if !h.follows {
		tips = nil
	}
	h.records, err = h.tx.Records(ctx, tips)
	return h.records, h.follows, err
}

// state returns the state of a project as a transaction sees it, using and refreshing the cache.
func (m *Memory) state(ctx context.Context, tx *refs.Tx, p refs.Project) (*State, error) {
	h := &history{tx: tx, tips: tx.Tips()}
	st, err := m.outlineAt(ctx, h, p)
	if err != nil {
		return nil, err
	}
	b, err := m.bulksAt(ctx, h, p)
	if err != nil {
		return nil, err
	}
	st.fill(b)
	st.bulk = b
	return st, nil
}

// advance caches st as it is behind the commit that tx made on top of it, so that the next to ask need not read that. st is of
// no use for anything else any more.
func (m *Memory) advance(st *State, tx *refs.Tx) {
	records, err := tx.Added()
	if err != nil || len(records) == 0 {
		return // whoever reads them finds it, too
	}
	b, tips := st.bulk, tx.Tips()
	for _, r := range records {
		if st.apply(r) != nil || b.apply(r) != nil {
			return
		}
	}
	b.tips = tips
	m.keepOutline(st, tips)
	m.writeCacheBytes(m.cachePath("bulk", string(st.Project)), encode(b.code))
}

// keepOutline makes st, to which records were added, whole and caches it as that of the tips.
func (m *Memory) keepOutline(st *State, tips []refs.Tip) {
	st.Tips = tips
	st.finish()
	st.nameVersions(m.repo.Device().ID)
	st.strip()
	m.writeCacheBytes(m.cachePath("state", string(st.Project)), encode(st.code))
}

// outline is state without what only adding and deriving need.
func (m *Memory) outline(ctx context.Context, tx *refs.Tx, p refs.Project) (*State, error) {
	h := &history{tx: tx, tips: tx.Tips()}
	if st, ok := m.outlines.Load(p); ok && slices.Equal(st.(*State).Tips, h.tips) {
		return st.(*State), nil
	}
	st, err := m.outlineAt(ctx, h, p)
	if err == nil {
		st.session("") // makes the index, which is only read from here on
		m.outlines.Store(p, st)
	}
	return st, err
}

func (m *Memory) outlineAt(ctx context.Context, h *history, p refs.Project) (*State, error) {
	file := m.cachePath("state", string(p))
	st := &State{}
	if !decodeCache(file, st.code) || st.Format != stateVersion || st.Project != p {
		st = newState(p)
	}
	st.purged = newPurges(st.Purges)
	same, err := m.stillHeeds(ctx, p, st.heeded(), st.Unheeded)
	if err != nil {
		return nil, err
	}
	strangers, err := m.strangersAt(ctx, p, h.tips)
	if err != nil {
		return nil, err
	}
	same = same && slices.Equal(st.Strangers, strangers)
	if slices.Equal(st.Tips, h.tips) && same {
		st.finish()
		st.nameVersions(m.repo.Device().ID)
		return st, nil
	}
	records, follows, err := h.after(ctx, st.Tips)
	if err == nil && follows && len(st.Tips) > 0 && (!same || slices.ContainsFunc(records, isPurge)) {
		records, _, err = h.after(ctx, nil) // what was taken in already may have to go
		follows = false
	}
	if err != nil {
		return nil, err
	}
	if !follows {
		st = newState(p)
	}
	st.Strangers = strangers
	if err := m.heed(ctx, st, records); err != nil {
		return nil, err
	}
	for _, r := range records {
		if err := st.apply(r); err != nil {
			return nil, err
		}
	}
	m.keepOutline(st, h.tips)
	return st, nil
}

func newState(p refs.Project) *State {
	return &State{Format: stateVersion, Project: p, purged: newPurges(nil)}
}

func isPurge(r refs.Record) bool { return r.Kind == kindPurge }

// heed lets a state leave out what the purges among records name. Those that nobody heeds are only counted.
func (m *Memory) heed(ctx context.Context, st *State, records []refs.Record) error {
	all, err := purgesIn(records)
	if err != nil || len(all) == 0 {
		return err
	}
	if st.Purges, err = m.heeded(ctx, st.Project, all); err != nil {
		return err
	}
	st.Unheeded = nil
	for _, q := range all {
		if !slices.ContainsFunc(st.Purges, func(h storedPurge) bool { return h.Stamp == q.Stamp }) {
			st.Unheeded = append(st.Unheeded, q.Stamp.Device)
		}
	}
	st.purged = newPurges(st.Purges)
	return nil
}

// heeded returns the devices whose purges a state heeds.
func (st *State) heeded() []string {
	var out []string
	for _, q := range st.Purges {
		out = append(out, q.Stamp.Device)
	}
	return out
}

// stillHeeds reports whether the user trusts the devices whose purges of a project were heeded, and none of those whose were not.
func (m *Memory) stillHeeds(ctx context.Context, p refs.Project, heeded, unheeded []string) (bool, error) {
	if len(heeded)+len(unheeded) == 0 || p == refs.Home {
		return true, nil
	}
	trust, err := m.Trust(ctx)
	if err != nil {
		return false, err
	}
	return !slices.ContainsFunc(heeded, func(d string) bool { return !trust.Of(d) }) && !slices.ContainsFunc(unheeded, trust.Of), nil
}

func (m *Memory) bulksAt(ctx context.Context, h *history, p refs.Project) (*bulks, error) {
	file := m.cachePath("bulk", string(p))
	b := &bulks{}
	if !decodeCache(file, b.code) {
		b = &bulks{of: map[objects.Hash]bulk{}}
	}
	if slices.Equal(b.tips, h.tips) {
		return b, nil
	}
	records, follows, err := h.after(ctx, b.tips)
	if err != nil {
		return nil, err
	}
	if !follows {
		b.of = map[objects.Hash]bulk{}
	}
	for _, r := range records {
		if err := b.apply(r); err != nil {
			return nil, err
		}
	}
	b.tips = h.tips
	m.writeCacheBytes(file, encode(b.code))
	return b, nil
}

// apply keeps the bulk of a record, if it has any.
func (b *bulks) apply(r refs.Record) error {
	switch r.Kind {
	case kindSession:
		return applyTo(r, func(s Snapshot) { b.of[r.ID] = bulk{typed: s.Typed, queue: s.Scan.Queue} })
	case kindVersion:
		return applyTo(r, func(v Version) { b.of[r.ID] = bulk{params: v.Derivation.Recipe.Params} })
	case kindComposition:
		return applyTo(r, func(c Composition) { b.of[r.ID] = bulk{params: c.Derivation.Recipe.Params, keys: c.Typed} })
	}
	return nil
}

// fill puts the bulk into the state.
func (st *State) fill(b *bulks) {
	for _, s := range st.Sessions {
		for _, points := range [][]Point{s.Points, s.Guests} {
			for i := range points {
				p := &points[i]
				x := b.of[p.Stamp.Record]
				p.Typed, p.Scan.Queue = x.typed, x.queue
			}
		}
	}
	for _, v := range st.Versions {
		v.Derivation.Recipe.Params = b.of[v.ID].params
	}
	for _, c := range st.Compositions {
		x := b.of[c.ID]
		c.Derivation.Recipe.Params, c.Typed = x.params, x.keys
	}
}

// strip takes out of the state what the outline lacks.
func (st *State) strip() { st.fill(&bulks{}) }

// complete returns a version with what the outline leaves out of it.
func (m *Memory) complete(ctx context.Context, p refs.Project, v *Version) (*Version, error) {
	full := *v
	return &full, m.repo.View(ctx, p, func(tx *refs.Tx) error {
		r, err := tx.Record(v.ID)
		if err != nil {
			return err
		}
		return applyTo(r, func(b Version) { full.Derivation = b.Derivation })
	})
}

// completeComposition returns a composition with what the outline leaves out of it.
func (m *Memory) completeComposition(ctx context.Context, p refs.Project, c *Composition) (*Composition, error) {
	full := *c
	return &full, m.repo.View(ctx, p, func(tx *refs.Tx) error {
		r, err := tx.Record(c.ID)
		if err != nil {
			return err
		}
		return applyTo(r, func(b Composition) { full.Derivation, full.Typed = b.Derivation, b.Typed })
	})
}

// code writes or reads the bulks, sorted by record.
func (b *bulks) code(c *codec) {
	codeTips(c, &b.tips)
	var ids []objects.Hash
	for id := range b.of {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, objects.Hash.Compare)
	if c.reading {
		b.of = map[objects.Hash]bulk{}
	}
	list(c, &ids, func(id *objects.Hash) {
		c.hash(id)
		x := b.of[*id]
		c.bytes(&x.params)
		list(c, &x.typed, func(t *TypedKey) { number(c, &t.N); c.fixed(t.Key[:]) })
		list(c, &x.keys, func(k *transcript.Key) { c.fixed(k[:]) })
		list(c, &x.queue.Waiting, func(s *string) { word(c, s) })
		list(c, &x.queue.Took, func(s *string) { word(c, s) })
		list(c, &x.queue.Taken, func(s *string) { word(c, s) })
		c.bool(&x.queue.Script)
		b.of[*id] = x
	})
}

func codeTips(c *codec, tips *[]refs.Tip) {
	list(c, tips, func(t *refs.Tip) { word(c, &t.Device); word(c, &t.Commit) })
}

// code writes or reads the outline.
func (st *State) code(c *codec) {
	number(c, &st.Format)
	if st.Format != stateVersion {
		c.failed = true
		return
	}
	codeTips(c, &st.Tips)
	word(c, &st.Project)
	word(c, &st.Name)
	word(c, &st.Identity)
	st.NameStamp.code(c)
	number(c, &st.Unknown)
	list(c, &st.Sessions, func(s **Session) {
		if c.reading {
			*s = &Session{}
		}
		(*s).code(c)
	})
	list(c, &st.Stored.Versions, func(i *storedItem[Version]) { i.code(c); i.Body.code(c) })
	list(c, &st.Stored.Compositions, func(i *storedItem[Composition]) { i.code(c); i.Body.code(c) })
	list(c, &st.Sets, func(a *assignment) {
		word(c, &a.Target)
		word(c, &a.Field)
		c.bool(&a.Value)
		a.Stamp.code(c)
	})
	list(c, &st.Keepits, func(o *override) {
		o.Override.code(c)
		o.Stamp.code(c)
		o.First.code(c)
	})
	list(c, &st.Uses, func(u *storedUse) {
		word(c, &u.By)
		c.time(&u.At)
		list(c, &u.Targets, func(t *string) { word(c, t) })
		u.Stamp.code(c)
	})
	list(c, &st.Paths, func(p *storedPath) {
		p.Stamp.code(c)
		word(c, &p.Path)
		word(c, &p.Project)
		word(c, &p.Identity)
		word(c, &p.Name)
		c.bool(&p.Linked)
	})
	list(c, &st.Costs, func(k *Cost) { k.code(c) })
	list(c, &st.Revokes, func(r *storedRevoke) { r.code(c) })
	list(c, &st.Purges, func(q *storedPurge) { q.code(c) })
	list(c, &st.Unheeded, func(d *string) { word(c, d) })
	list(c, &st.Strangers, func(d *string) { word(c, d) })
	word(c, &st.Guest.Name)
	st.Guest.Stamp.code(c)
}

func (s *stamp) code(c *codec) {
	c.uint(&s.Lamport)
	word(c, &s.Device)
	c.hash(&s.Record)
}

func (i *storedItem[T]) code(c *codec) {
	i.Stamp.code(c)
	c.time(&i.Time)
	if c.reading {
		i.Body = new(T)
	}
}

func (q *storedPurge) code(c *codec) {
	q.Stamp.code(c)
	c.hash(&q.Sum)
	b := &q.Body
	word(c, &b.Cause)
	list(c, &b.Sessions, func(s *string) { word(c, s) })
	list(c, &b.Records, func(s *string) { word(c, s) })
	list(c, &b.Passages, func(p *Passage) {
		word(c, &p.Session)
		number(c, &p.Generation)
		number(c, &p.N)
		word(c, &p.ID)
		c.bool(&p.Part)
	})
	list(c, &b.Labels, func(l *LabelMark) {
		word(c, &l.Session)
		word(c, &l.Device)
		number(c, &l.Last)
	})
}
