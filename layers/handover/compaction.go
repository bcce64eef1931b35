package handover

import (
	"cmp"
	"context"

	"github.com/memvcs/mem/layers/brief"
	"github.com/memvcs/mem/layers/knowledge"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
)

// AtCompaction returns what a compaction of a session loses: pinned text, requests, todos, files, commands and failures.
// The text is empty if memory does not have the session.
func AtCompaction(ctx context.Context, db *state.DB, p state.Project, o ContextOptions) (Given, error) {
	s, err := knowledge.SessionOf(ctx, db, p.ID, o.Session)
	if err != nil || s == nil || !s.Shown() {
		return Given{}, err
	}
	d, err := digest(ctx, db, p.ID, s, nil)
	if err != nil {
		return Given{}, err
	}
	sheet := brief.Sheet{Project: p.Name, More: "`" + o.Program + " show " + records.ShortID(s.ID) +
		":L1` prints all of it."}
	if !o.Unpinned {
		held, err := ReadContents(ctx, db, p, o.Session)
		if err != nil {
			return Given{}, err
		}
		var pins []brief.Item
		for _, k := range held.Pinned {
			pins = append(pins, brief.Item{Text: k.Text, Source: records.ShortID(s.ID) + ", " + k.Weight.String(),
				Trust: brief.User, Verbatim: true, Why: "a marker of this session"})
		}
		sheet.Sections = append(sheet.Sections, brief.Section{Title: "Pinned by the user, word for word", Stated: true, Items: pins})
	}
	sheet.Sections = append(sheet.Sections, Compaction(d)...)
	sheet.Project = cmp.Or(sheet.Project, "project")
	return give(db, nil, sheet, o.Limit), nil
}
