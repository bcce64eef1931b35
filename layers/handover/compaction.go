package handover

import (
	"cmp"
	"context"

	"github.com/memvcs/mem/layers/brief"
	"github.com/memvcs/mem/layers/knowledge"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
)

// Compaction returns what a compaction of a session loses: pinned text, requests, todos, files, commands and failures.
// The text is empty if memory does not have the session.
func (m Ops) Compaction(ctx context.Context, p state.Project, o ContextOptions) (Given, error) {
	s, err := knowledge.On(m.DB).SessionOf(ctx, p.ID, o.Session)
	if err != nil || s == nil || !s.Shown() {
		return Given{}, err
	}
	d, err := m.digest(ctx, p.ID, s, nil)
	if err != nil {
		return Given{}, err
	}
	sheet := brief.Sheet{Project: p.Name, More: "`" + o.Program + " show " + records.ShortID(s.ID) +
		":L1` prints all of it."}
	if !o.Unpinned {
		held, err := knowledge.On(m.DB).Contents(ctx, p, o.Session)
		if err != nil {
			return Given{}, err
		}
		var pins []brief.Item
		for _, k := range held.Pinned {
			pins = append(pins, brief.Item{Text: k.Text, Source: records.ShortID(s.ID) + ", " + k.Weight.String(),
				Trust: brief.User, Verbatim: true, Why: "a marker of this session"})
		}
		sheet.Sections = append(sheet.Sections, brief.Section{Title: "Pinned by the user, word for word", Items: pins})
	}
	sheet.Sections = append(sheet.Sections, Compaction(d, records.ShortID)...)
	sheet.Project = cmp.Or(sheet.Project, "project")
	return m.give(sheet, o.Limit), nil
}
