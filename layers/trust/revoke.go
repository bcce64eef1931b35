package trust

import (
	"cmp"
	"context"
	"slices"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs"
)

// RevocationsOf returns the revoked sources of a project, sorted.
func RevocationsOf(ctx context.Context, db *state.DB, p refs.Project) ([]Revocation, error) {
	st, err := Outline(ctx, db, p)
	if err != nil {
		return nil, err
	}
	return Revocations(st.Revokes), nil
}

// An Effect lists what a revocation or its withdrawal changes in a project.
type Effect struct {
	Changed []state.Hidden // hidden or shown again
	Places  int            // messages from the source
	Copies  []string       // sessions that repeat hidden text or used data derived from it
	Already bool           // nothing to change
}

// Revoke revokes a source, or withdraws its revocation if b.Revoked is false. It deletes nothing: data from the
// source is hidden in lists, contexts and views, on all devices, until the revocation is withdrawn. A dry run only
// returns the effect.
func Revoke(ctx context.Context, db *state.DB, p state.Project, b records.RevokeBody, dryRun bool) (Effect, error) {
	var out Effect
	src := b.Origin
	st, err := Bare(ctx, db, p.ID)
	if err != nil {
		return out, err
	}
	now := Revocations(st.Revokes)
	then := slices.DeleteFunc(slices.Clone(now), func(r Revocation) bool { return r.Origin == src })
	out.Already = b.Revoked != (len(then) == len(now))
	if b.Revoked {
		then = append(then, Revocation{Origin: src, Reason: b.Reason, Device: db.Refs.Device().ID})
		slices.SortFunc(then, func(a, b Revocation) int { return a.Compare(b.Origin) })
	}
	if out.Changed, err = changed(ctx, db, p, st, now, then); err != nil {
		return out, err
	}
	if out.Places, err = countPlaces(ctx, db, p.ID, st, src); err != nil {
		return out, err
	}
	if out.Copies, err = copies(ctx, db, st, out.Changed, src); err != nil {
		return out, err
	}
	if dryRun || out.Already {
		return out, nil
	}
	message := "revoke " + src.String()
	if !b.Revoked {
		message = "revoke " + src.String() + " no more"
	}
	return out, db.Refs.Update(ctx, p.ID, message, func(tx *refs.Tx) error {
		tx.Trailer("Op", "revoke")
		_, err := tx.Add(records.KindRevoke, b)
		return err
	})
}

// changed lists what one list of revocations hides and another does not.
func changed(ctx context.Context, db *state.DB, p state.Project, st *state.State, now,
	then []Revocation) ([]state.Hidden, error) {
	before, err := HiddenBy(ctx, db, p, st, now)
	if err != nil {
		return nil, err
	}
	after, err := HiddenBy(ctx, db, p, st, then)
	if err != nil {
		return nil, err
	}
	var out []state.Hidden
	for _, pair := range [][2][]state.Hidden{{before, after}, {after, before}} {
		for _, h := range pair[1] {
			if !slices.ContainsFunc(pair[0], func(o state.Hidden) bool {
				return o.Kind == h.Kind && o.Name == h.Name && o.Home == h.Home
			}) {
				out = append(out, h)
			}
		}
	}
	return out, nil
}

// HiddenBy lists what revocations hide in a project.
func HiddenBy(ctx context.Context, db *state.DB, p state.Project, st *state.State,
	by []Revocation) ([]state.Hidden, error) {
	from, err := foreigns(ctx, db, st)
	if err != nil {
		return nil, err
	}
	marked, err := markHidden(ctx, db, st, by, from)
	if err != nil {
		return nil, err
	}
	var out []state.Hidden
	for _, s := range marked.Sessions {
		if s.Revoked != "" && !s.Deleted {
			out = append(out, state.Hidden{Kind: state.IsSession, Name: records.ShortID(s.ID), What: s.Title(), Why: s.Revoked})
		}
	}
	for _, v := range marked.Versions {
		if v.Revoked != "" && !v.Deleted {
			out = append(out, state.Hidden{Kind: state.IsVersion, Name: records.ShortID(v.Session) + ":" + v.Name(),
				What: v.FileName(), Why: v.Revoked})
		}
	}
	names := state.StateNames(marked)
	for _, c := range marked.Compositions {
		if c.Revoked != "" && !c.Deleted {
			out = append(out, state.Hidden{Kind: state.IsComposition, Name: names[c.ID], Why: c.Revoked})
		}
	}
	upper, err := hiddenUpper(ctx, db, p.ID, marked, by)
	if err != nil {
		return nil, err
	}
	elsewhere, err := hiddenElsewhere(ctx, db, st, by)
	return slices.Concat(out, upper, elsewhere), err
}

// hiddenElsewhere lists the compositions of other projects with hidden parts from the project of st.
func hiddenElsewhere(ctx context.Context, db *state.DB, st *state.State,
	by []Revocation) (out []state.Hidden, err error) {
	ids, err := db.Refs.Projects()
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if id == st.Project {
			continue
		}
		there, err := Bare(ctx, db, id)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(there.PartsFrom(), st.Project) {
			continue
		}
		from, err := foreigns(ctx, db, there)
		if err != nil {
			return nil, err
		}
		from = slices.DeleteFunc(from, func(f foreign) bool { return f.St.Project == st.Project })
		marked, err := markHidden(ctx, db, there, Revocations(there.Revokes),
			append(from, foreign{St: st, By: by}))
		if err != nil {
			return nil, err
		}
		names := state.StateNames(marked)
		for _, c := range marked.Compositions {
			if c.Revoked != "" && !c.Deleted {
				out = append(out, state.Hidden{Kind: state.IsComposition, Name: names[c.ID], Why: c.Revoked,
					Project: marked.Name, Home: id})
			}
		}
	}
	return out, nil
}

// hiddenUpper lists the facts, concepts and rules that revocations hide.
func hiddenUpper(ctx context.Context, db *state.DB, p refs.Project, st *state.State,
	by []Revocation) ([]state.Hidden, error) {
	records, err := db.Upper(ctx, p)
	if err != nil {
		return nil, err
	}
	k, err := foldUpper(ctx, db, records, st, by)
	if err != nil {
		return nil, err
	}
	var out []state.Hidden
	for f := range k.Facts.All() {
		if f.Revoked != "" && !f.Removed {
			out = append(out, state.Hidden{Kind: state.IsFact, Name: f.ID, What: f.Text, Why: f.Revoked})
		}
	}
	for _, c := range k.Concepts.Concepts {
		if c.Revoked != "" && !c.Removed && c.MergedInto == "" {
			label := k.Concepts.DisplayLabel(c, db.Refs.Device().ID)
			out = append(out, state.Hidden{Kind: state.IsConcept, Name: label, What: c.Name, Why: c.Revoked})
		}
	}
	for _, r := range k.Rules.Rules {
		if r.Revoked != "" {
			out = append(out, state.Hidden{Kind: state.IsRule, Name: r.ID, What: r.Text, Why: r.Revoked})
		}
	}
	return out, nil
}

// copies returns the sessions of all projects that used hidden data.
func copies(ctx context.Context, db *state.DB, st *state.State, hidden []state.Hidden, src records.Origin) ([]string, error) {
	in := map[refs.Project][]state.Hidden{st.Project: nil}
	for _, h := range hidden {
		home := cmp.Or(h.Home, st.Project)
		in[home] = append(in[home], h)
	}
	var out []string
	for id, list := range in {
		of := st
		if id != st.Project {
			var err error
			if of, err = Bare(ctx, db, id); err != nil {
				return nil, err
			}
		}
		out = append(out, of.CopiesOf(list, src)...)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}
