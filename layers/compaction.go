package layers

import (
	"cmp"
	"context"

	"github.com/memvcs/mem/layers/brief"
	"github.com/memvcs/mem/layers/handover"
)

// Compaction returns what a compaction of a session loses: its pins, requests, todos, files, commands and failures. There is no text if
// memory does not have the session.
func (m *Memory) Compaction(ctx context.Context, p Project, o ContextOptions) (Given, error) {
	s, err := m.SessionOf(ctx, p.ID, o.Session)
	if err != nil || s == nil || !s.shown() {
		return Given{}, err
	}
	d, err := m.digest(ctx, p.ID, s)
	if err != nil {
		return Given{}, err
	}
	sheet := brief.Sheet{Project: p.Name, More: "`" + o.Program + " show " + ShortID(s.ID) + ":L1` prints all of it."}
	if !o.Unpinned {
		held, err := m.Held(ctx, p, o.Session)
		if err != nil {
			return Given{}, err
		}
		var pins []brief.Item
		for _, k := range held.Kept {
			pins = append(pins, brief.Item{Text: k.Text, Source: ShortID(s.ID) + ", " + k.Weight.String(), Trust: brief.User, Whole: true, Why: "a marker of this session"})
		}
		sheet.Sections = append(sheet.Sections, brief.Section{Title: "Pinned by the user, word for word", Items: pins})
	}
	sheet.Sections = append(sheet.Sections, handover.Compaction(d, ShortID)...)
	sheet.Project = cmp.Or(sheet.Project, "project")
	return m.give(sheet, o.Limit), nil
}
