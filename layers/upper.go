package layers

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/memvcs/mem/layers/concepts"
	"github.com/memvcs/mem/layers/facts"
	"github.com/memvcs/mem/layers/permanent"
	"github.com/memvcs/mem/refs"
)

// An upperRecord is a record of the layers above L1: facts, concepts, rules and what is said about them.
// The outline leaves them out; who needs them folds them in their order. Their bodies are kept as they stand.
type upperRecord struct {
	Kind  string
	Stamp stamp
	Time  time.Time
	Body  json.RawMessage
}

// upperKinds are the kinds of records that [Memory.upper] returns.
var upperKinds = []string{
	facts.KindExchange, facts.KindDistilled, facts.KindJudgement,
	concepts.Kind, concepts.KindAssign, concepts.KindSet,
	permanent.Kind, permanent.KindAct, permanent.KindReflect,
	kindPeer, kindShare, kindPurge,
}

// uppers are the records of the upper layers of a project, kept in the cache as the outline is.
type uppers struct {
	version int
	tips    []refs.Tip
	records []upperRecord
}

// upperVersion is the version of the cache file; another one is rebuilt. It changes with upperKinds.
const upperVersion = 8

// upper returns the records of the upper layers of a project in their order: (lamport, device, id).
func (m *Memory) upper(ctx context.Context, p refs.Project) (out []upperRecord, err error) {
	err = m.repo.Look(ctx, p, func(tx *refs.Tx) error {
		out, err = m.upperAt(ctx, tx, p)
		return err
	})
	return out, err
}

// upperAt is upper as a transaction sees it.
func (m *Memory) upperAt(ctx context.Context, tx *refs.Tx, p refs.Project) ([]upperRecord, error) {
	records, err := m.upperRecords(ctx, tx, p)
	if err != nil || !slices.ContainsFunc(records, func(r upperRecord) bool { return r.Kind == kindPurge }) {
		return records, err
	}
	q, err := m.purgesOf(ctx, tx, p)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(records), func(r upperRecord) bool { return q.hides(r.Kind, r.Stamp, r.Body) }), nil
}

// upperRecords is upperAt with what is hidden because it was forgotten.
func (m *Memory) upperRecords(ctx context.Context, tx *refs.Tx, p refs.Project) ([]upperRecord, error) {
	h := &history{tx: tx, tips: tx.Tips()}
	file := m.cachePath("upper", string(p))
	u := &uppers{}
	if !decodeCache(file, u.code) || u.version != upperVersion {
		u = &uppers{version: upperVersion}
	}
	if slices.Equal(u.tips, h.tips) {
		return u.records, nil
	}
	records, follows, err := h.after(ctx, u.tips)
	if err != nil {
		return nil, err
	}
	if !follows {
		u.records = nil
	}
	for _, r := range records {
		if slices.Contains(upperKinds, r.Kind) {
			u.records = append(u.records, upperRecord{r.Kind, stampOf(r), r.Time, json.RawMessage(r.Body)})
		}
	}
	order(u.records, func(a, b *upperRecord) int { return a.Stamp.compare(b.Stamp) })
	u.tips = h.tips
	m.writeCacheBytes(file, encode(u.code))
	return u.records, nil
}

// statements returns the records of some kinds as concepts and rules are folded from.
func statements(records []upperRecord, kinds ...string) []concepts.Record {
	var out []concepts.Record
	for _, r := range records {
		if slices.Contains(kinds, r.Kind) {
			out = append(out, concepts.Record{Kind: r.Kind, ID: r.Stamp.Record.String(), Lamport: r.Stamp.Lamport, Device: r.Stamp.Device, Time: r.Time, Body: r.Body})
		}
	}
	return out
}

// code writes or reads the records.
func (u *uppers) code(c *codec) {
	number(c, &u.version)
	if u.version != upperVersion {
		c.failed = true
		return
	}
	codeTips(c, &u.tips)
	list(c, &u.records, func(r *upperRecord) {
		word(c, &r.Kind)
		r.Stamp.code(c)
		c.time(&r.Time)
		body := []byte(r.Body)
		c.bytes(&body)
		r.Body = body
	})
}
