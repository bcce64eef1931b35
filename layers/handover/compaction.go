package handover

import (
	"cmp"
	"context"
	"slices"

	"github.com/memvcs/mem/layers/brief"
	"github.com/memvcs/mem/layers/knowledge"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
)

// AtCompaction returns what a compaction of a session loses: rules and pinned text, also what it was told of other sessions,
// and its requests, todos, files and commands. The text is empty if memory does not have the session.
func AtCompaction(ctx context.Context, db *state.DB, p state.Project, o ContextOptions) (Given, error) {
	s, err := knowledge.SessionOf(ctx, db, p.ID, o.Session)
	if err != nil || s == nil || !s.Shown() {
		return Given{}, err
	}
	b, err := newBriefing(ctx, db, p, o)
	if err != nil {
		return Given{}, err
	}
	d, err := digest(ctx, db, b.st, s, nil)
	if err != nil {
		return Given{}, err
	}
	if _, err := b.digest(ctx, p); err != nil {
		return Given{}, err
	}
	b.digests = append([]Digest{d}, b.digests...)
	sheet := brief.Sheet{Project: cmp.Or(b.st.Name, p.Name, "project"), More: "`" + o.Program + " show " + records.ShortID(s.ID) + ":L1` prints all of it.",
		Sections: append(b.stated(o.Program+" "), Compaction(d)...)}
	return give(db, b.st, sheet, o.Limit), nil
}

// Compaction returns what a compaction of the session loses: requests, todos, files, commands and failures.
func Compaction(d Digest) []brief.Section {
	one := []Digest{d}
	now, waits := stands(d, atCompact), open(one, 0, atCompact)
	return []brief.Section{
		{Title: "Where this session stands", Items: now},
		{Title: "Open", Items: waits},
		{Title: wantsTitle, Items: wants(one, slices.Concat(now, waits))},
		{Title: "Edited files", Items: workingSet(one)},
		{Title: "Commands and their last results", Items: commandItems(one), Rank: 1},
	}
}
