package forget

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/knowledge/concepts"
	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/knowledge/permanent"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/lineage"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// dropRecords drops records and everything derived from them. Then it changes the remaining records of this device. Its
// time does not depend on the order in which records name each other, which another device chooses.
func (f *deletion) dropRecords() error {
	d := dropper{f: f, users: map[string][]refs.Record{}, concepts: map[string]refs.Record{}, members: map[string]int{}}
	for _, r := range f.records {
		if r.Kind == concepts.Kind {
			d.concepts[r.ID.String()] = r
		}
		d.members[conceptOf(r)]++
		for name := range f.origins(r) {
			d.users[name] = append(d.users[name], r)
		}
	}
	for _, r := range f.records {
		if f.affected(r) {
			if err := d.drop(r); err != nil {
				return err
			}
		}
	}
	for len(f.fresh) > 0 {
		name := f.fresh[0]
		f.fresh = f.fresh[1:]
		for _, r := range d.users[name] {
			if err := d.drop(r); err != nil {
				return err
			}
		}
	}
	for _, r := range f.records {
		if f.own(r.Device) && !f.drop[r.ID] {
			if err := f.withoutDeleted(r); err != nil {
				return fmt.Errorf("record %s: %w", r.ID.Short(), err)
			}
		}
	}
	return nil
}

// A dropper drops records.
type dropper struct {
	f        *deletion
	users    map[string][]refs.Record // the records that are dropped with a name, see [deletion.origins]
	concepts map[string]refs.Record   // by name
	members  map[string]int           // assignments of a concept that remain
}

// drop drops a record. A concept is dropped with its last member.
func (d *dropper) drop(r refs.Record) error {
	if d.f.drop[r.ID] {
		return nil
	}
	if err := d.f.dropRecord(r); err != nil {
		return err
	}
	concept := conceptOf(r)
	if d.members[concept]--; d.members[concept] > 0 {
		return nil
	}
	if c, ok := d.concepts[concept]; ok {
		return d.drop(c)
	}
	return nil
}

// conceptOf returns the name of the concept to which a record assigns something, "" for none.
func conceptOf(r refs.Record) string {
	var a concepts.Assignment
	if r.Kind != concepts.KindAssign || json.Unmarshal(r.Body, &a) != nil {
		return ""
	}
	return a.Concept
}

// unforgettable are the kinds of records that are never dropped.
var unforgettable = []string{"device", records.KindProject, records.KindPath, records.KindPeer, records.KindShare,
	records.KindCost, records.KindPurge}

// derived are the kinds of records that are made of the whole text of the sessions that they name. Of a session of which
// text is deleted all of them are dropped that were made of it, whether it is in them or not: they can be made again. See
// also [state.Purges.Hides].
var derived = []string{records.KindVersion, records.KindComposition, facts.KindExchange, facts.KindDistilled,
	permanent.KindReflect}

// affected reports whether a record is selected, names a deleted item, is derived from a changed session, or contains
// selected text.
func (f *deletion) affected(r refs.Record) bool {
	return f.direct[r.ID] || f.matched[r.ID] || f.naming(r)
}

// naming reports whether a record is dropped for what it names. Each device that applies the purge finds the same.
func (f *deletion) naming(r refs.Record) bool {
	if slices.Contains(unforgettable, r.Kind) {
		return false
	}
	about := f.about(r)
	if slices.ContainsFunc(about, func(id string) bool { return f.sessions[id] }) {
		return true
	}
	return slices.Contains(derived, r.Kind) && !f.earlier(r) &&
		slices.ContainsFunc(about, func(id string) bool { return len(f.passed[id]) > 0 }) || f.aboutDeleted(r)
}

// earlier reports whether a version or a composition was made of what has no deleted text: of growth points before it, or of
// a version, with which it is dropped.
func (f *deletion) earlier(r refs.Record) bool {
	var made struct {
		Derivation lineage.Derivation `json:"derivation"`
	}
	if r.Kind != records.KindVersion && r.Kind != records.KindComposition || json.Unmarshal(r.Body, &made) != nil {
		return false
	}
	return len(made.Derivation.Inputs) > 0 && !slices.ContainsFunc(made.Derivation.Inputs, func(h objects.Hash) bool {
		return f.gone[h.String()] || !f.sources[h]
	})
}

// origins yields the names of the objects and records that a record is deleted with.
func (f *deletion) origins(r refs.Record) iter.Seq[string] {
	return func(yield func(string) bool) {
		switch r.Kind {
		case records.KindSession, records.KindUse:
			return
		case facts.KindJudgement:
			var j facts.Judgement
			if json.Unmarshal(r.Body, &j) == nil {
				yield(j.Fact.String())
			}
			return
		case permanent.Kind:
			var b permanent.Definition
			if json.Unmarshal(r.Body, &b) == nil && b.ByUser {
				return // written by the user; only its evidence is removed
			}
		}
		if slices.Contains(unforgettable, r.Kind) {
			return
		}
		for _, name := range objects.NamesIn(string(r.Body)) {
			if !yield(name) {
				return
			}
		}
	}
}

// aboutDeleted reports whether a statement of the user or a rule is about deleted messages.
func (f *deletion) aboutDeleted(r refs.Record) bool {
	if len(f.passed) == 0 {
		return false
	}
	switch r.Kind {
	case records.KindKeepit:
		var o records.Override
		return json.Unmarshal(r.Body, &o) == nil &&
			f.passed[f.st.IDOf(o.Session, objects.Hash{}, r.Device)][o.Generation][o.Message]
	case permanent.Kind:
		var b permanent.Definition
		return json.Unmarshal(r.Body, &b) == nil && !b.ByUser && slices.ContainsFunc(b.Quotes, f.quoteDeleted)
	case permanent.KindAct:
		var a permanent.Act
		return json.Unmarshal(r.Body, &a) == nil && a.Quote != nil && f.quoteDeleted(*a.Quote)
	}
	return false
}

func (f *deletion) quoteDeleted(w permanent.Quote) bool {
	for _, g := range f.passed[w.Session] {
		if g[w.Message] {
			return true
		}
	}
	return false
}

// containsSelected reports whether a record itself contains selected text.
func (f *deletion) containsSelected(r refs.Record) bool {
	if originals.Holds(r.Body, f.needles) {
		return true
	}
	return f.o.matcher().body(r.Body, isID)
}

// searchTexts finds the records that contain selected text although no session that they name does: in themselves, or in
// a text or witness of theirs, as a model may have read it in a fact or a rule, or written it. The purge names those of
// other devices.
func (f *deletion) searchTexts(ctx context.Context) error {
	if f.needles == nil && f.o.Match == nil {
		return nil
	}
	for _, r := range f.records {
		if r.Kind == records.KindSession || r.Kind == records.KindUse || slices.Contains(unforgettable, r.Kind) ||
			f.naming(r) {
			continue
		}
		found := f.containsSelected(r)
		texts, err := textsOf(r)
		for i := 0; err == nil && !found && i < len(texts); i++ {
			found, err = f.textMatches(ctx, r, texts[i])
		}
		switch {
		case err != nil:
			return err
		case found && f.own(r.Device):
			f.matched[r.ID] = true
		case found:
			f.direct[r.ID] = true
		}
	}
	return nil
}

// textsOf returns the texts that belong to a record: its output and its witnesses.
func textsOf(r refs.Record) (texts []objects.Hash, err error) {
	add := func(d lineage.Derivation) { texts = append(slices.Clone(d.Witnesses), d.Output) }
	switch r.Kind {
	case records.KindVersion:
		err = state.ApplyTo(r, func(v records.Version) { add(v.Derivation) })
	case records.KindComposition:
		err = state.ApplyTo(r, func(c records.Composition) { add(c.Derivation) })
	case facts.KindDistilled:
		err = state.ApplyTo(r, func(d facts.Distilled) { texts = d.Witnesses })
	case permanent.KindReflect:
		err = state.ApplyTo(r, func(x permanent.Reflection) { texts = x.Witnesses })
	}
	return texts, err
}

// textMatches reports whether a text that a record names contains selected text. A missing text does not: it was
// deleted before, or another device never stored it.
func (f *deletion) textMatches(ctx context.Context, r refs.Record, text objects.Hash) (bool, error) {
	b, err := originals.Object(ctx, f.m, f.p.ID, text)
	if errors.Is(err, objects.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read a text of record %s: %w", r.ID.Short(), err)
	}
	v := Prover{o: f.o, Needles: f.needles}
	return v.finds(bytes.NewReader(b), f.o.matcher().derived)
}

// dropRecord drops a record and the texts that belong to it.
func (f *deletion) dropRecord(r refs.Record) error {
	f.drop[r.ID] = true
	f.markGone(r.ID)
	texts, err := textsOf(r)
	f.markGone(texts...)
	if err != nil || r.Kind != facts.KindExchange {
		return err
	}
	return state.ApplyTo(r, func(x facts.Exchange) {
		f.markGone(x.Key())
		for _, fact := range x.Bare().Facts {
			fact.Session = x.Session
			f.markGone(fact.Key())
		}
	})
}

// sealNotes seals the deleted states of this device's notes, because their files may still have the text.
func (f *deletion) sealNotes() error {
	for _, r := range f.records {
		if r.Kind != records.KindNote || !f.drop[r.ID] || !f.own(r.Device) {
			continue
		}
		err := state.ApplyTo(r, func(n records.Note) {
			f.Seals.Files = append(f.Seals.Files, originals.SealFile(f.m, objects.Sum([]byte(n.Text))))
			_, name, err := records.ParseNoteFile(n.File)
			if file := filepath.Join(n.Dir, filepath.FromSlash(name)); err == nil && !slices.Contains(f.files, file) {
				f.files = append(f.files, file)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (f *deletion) markGone(names ...objects.Hash) {
	for _, h := range names {
		if name := h.String(); !f.gone[name] {
			f.gone[name] = true
			f.fresh = append(f.fresh, name)
		}
	}
}

// withoutDeleted removes references and secrets from a remaining record, or drops the record if nothing remains.
func (f *deletion) withoutDeleted(r refs.Record) error {
	body := []byte(r.Body)
	if point, ok := f.regrown[r.ID]; ok {
		body = point.Body
	}
	body, err := f.withoutReferences(r, body)
	if err != nil || f.drop[r.ID] {
		return err
	}
	if spots := originals.PlacesOf(body, f.needles); len(spots) > 0 { // in a path, a name or a title
		body = bytes.Clone(body)
		originals.Mask(body, spots)
	}
	if !bytes.Equal(body, r.Body) {
		f.bodies[r.ID] = body
	}
	return nil
}

// withoutReferences returns the body of a record without references to deleted things. A record that consists of such
// references is dropped. was is the body if there are none.
func (f *deletion) withoutReferences(r refs.Record, was []byte) (body []byte, err error) {
	body = was
	switch r.Kind {
	case records.KindUse:
		err = state.ApplyTo(r, func(u records.Use) { f.drop[r.ID] = slices.ContainsFunc(u.Targets, f.targetGone) })
	case records.KindSet:
		err = state.ApplyTo(r, func(s records.SetBody) {
			if name, ok := strings.CutPrefix(s.Target, "composition/"); ok && !f.composed(name) {
				f.drop[r.ID] = true
			}
		})
	case records.KindName:
		err = state.ApplyTo(r, func(b records.NameBody) { f.drop[r.ID] = f.targetGone(b.Target) })
	case facts.KindJudgement:
		err = state.ApplyTo(r, func(j facts.Judgement) {
			if f.gone[j.By.String()] {
				j.By = objects.Hash{}
				body, err = objects.EncodeJSON(j)
			}
		})
	case permanent.Kind:
		err = state.ApplyTo(r, func(b permanent.Definition) {
			e, w := len(b.Evidence), len(b.Quotes)
			b.Evidence = slices.DeleteFunc(slices.Clone(b.Evidence), func(key string) bool {
				return f.gone[strings.TrimPrefix(key, "f:")]
			})
			b.Quotes = slices.DeleteFunc(slices.Clone(b.Quotes), func(x permanent.Quote) bool {
				return f.sessions[x.Session] || f.quoteDeleted(x)
			})
			if len(b.Evidence) < e || len(b.Quotes) < w {
				body, err = objects.EncodeJSON(b)
			}
		})
	}
	return body, err
}

// targetGone reports whether the target of a use or a name was deleted.
func (f *deletion) targetGone(target string) bool {
	kind, name, _ := strings.Cut(target, "/")
	switch kind {
	case "session":
		return f.sessions[name]
	case "composition":
		return !f.composed(name)
	}
	return f.gone[name]
}

// composed reports whether a composition of this name remains in any lane.
func (f *deletion) composed(name string) bool {
	gone := false
	for _, c := range f.st.Stored.Compositions {
		if c.Body.Name == name {
			if !f.drop[c.Stamp.Record] {
				return true
			}
			gone = true
		}
	}
	return !gone
}

// named returns the names in the remaining records of this device's lane, as [deletion.rewrite] writes them.
func (f *deletion) named() map[string]bool {
	out := map[string]bool{}
	for _, r := range f.records {
		if f.drop[r.ID] || !f.own(r.Device) {
			continue
		}
		body := r.Body
		if p, ok := f.regrown[r.ID]; ok {
			body = p.Body
		}
		if b, ok := f.bodies[r.ID]; ok {
			body = b
		}
		for _, name := range objects.NamesIn(string(body)) {
			if r.Kind == records.KindSession || f.names[name] == "" {
				out[name] = true
			}
		}
	}
	return out
}
