package handover

import (
	"cmp"
	"context"

	"github.com/memvcs/mem/layers/brief"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
)

// Recall returns passages and files of earlier sessions of the project p that fit a prompt, or no text if nothing fits
// well enough. It reads only digests in the cache.
func (m Ops) Recall(ctx context.Context, p state.Project, prompt string, o ContextOptions) (Given, error) {
	q := ParsePrompt(prompt)
	if q.Empty() {
		return Given{}, nil
	}
	digests, asked, name, err := m.promptDigests(ctx, p, q, o)
	if err != nil || len(digests) == 0 {
		return Given{}, err
	}
	sections := Prompt(q, digests, asked, o.Delivered, records.ShortID)
	if len(sections) == 0 {
		return Given{}, nil
	}
	return m.give(brief.Sheet{Project: name, More: "`" + o.Program + " search` finds more.", Sections: sections}, o.Limit),
		nil
}

// promptDigests returns the digests in the cache of sessions that may be mentioned, the newest first, and the words
// that each of their turns shares with the prompt.
func (m Ops) promptDigests(ctx context.Context, p state.Project, q Query, o ContextOptions) (out []Digest,
	asked [][][]string, name string, err error) {
	kept := m.readDigests(m.CachePath("digests", string(p.ID)))
	if len(kept.list) == 0 {
		return nil, nil, "", nil
	}
	b := &briefing{m: m, o: o}
	if b.st, err = trust.On(m.DB).Outline(ctx, p.ID); err != nil {
		return nil, nil, "", err
	}
	if b.trust, err = m.Trust(ctx); err != nil {
		return nil, nil, "", err
	}
	at := make(map[string]int, len(kept.list))
	for i := range kept.list {
		at[kept.list[i].Session] = i
	}
	words := kept.turnsWith(q.words)
	for _, s := range b.recent() {
		i, ok := at[s.ID]
		if !ok {
			continue
		}
		d := &kept.list[i]
		if d.original == s.Now().Original || s.Point(d.original) != nil {
			out, asked = append(out, d.Rebase(o.Dir)), append(asked, words[i])
		}
	}
	return out, asked, cmp.Or(b.st.Name, p.Name), nil
}
