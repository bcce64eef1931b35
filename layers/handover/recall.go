package handover

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/brief"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/quotes"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/search"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
)

// Recall returns passages and files of earlier sessions of the project p that fit a prompt, or no text if nothing fits
// well enough. It reads only digests and the index in the cache.
func (m Ops) Recall(ctx context.Context, p state.Project, prompt string, o ContextOptions) (Given, error) {
	q := ParsePrompt(prompt)
	if q.Empty() {
		return Given{}, nil
	}
	digests, asked, name, err := m.promptDigests(ctx, p, q, o)
	if err != nil || len(digests) == 0 {
		return Given{}, err
	}
	passages, err := m.answers(ctx, p, prompt, digests, o)
	if err != nil {
		return Given{}, err
	}
	sections := Prompt(q, digests, asked, passages, o.Delivered, records.ShortID)
	if len(sections) == 0 {
		return Given{}, nil
	}
	return m.give(brief.Sheet{Project: name, More: "`" + o.Program + " search` finds more.", Sections: sections}, o.Limit),
		nil
}

// Limits of passages.
const (
	passageWidth = 380 // bytes, about
	mostCut      = 24 << 20
)

// answers returns the passages of earlier messages that answer a prompt, the best first, of the sessions that may be
// mentioned: whole sentences, and of the model only what no tool printed before.
func (m Ops) answers(ctx context.Context, p state.Project, prompt string, digests []Digest,
	o ContextOptions) (out []search.Passage, err error) {
	known, plans := map[string]bool{}, map[string]bool{}
	for _, d := range digests {
		known[d.Session] = true
		for _, t := range d.Turns {
			plans[t.key(d.Session)] = t.Plan != ""
		}
	}
	found, err := search.On(m.DB).Passages(ctx, []refs.Project{p.ID}, prompt, search.PassageOptions{Limit: 4 * maxPassages,
		Width: passageWidth, Without: map[string]bool{o.Session: true}, AsIs: true})
	if err != nil {
		return nil, nil // a damaged index is made again by the next search; the digests answer
	}
	for _, f := range found {
		if known[f.Session] && f.Share >= leastShare && !o.Delivered[passageKey(f)] && len(out) < maxPassages {
			if f.Who == "note" && plans[fmt.Sprintf("%s#%d", f.Session, f.To)] {
				f.Who = "plan"
			}
			if f.Who != "note" && f.Who != "tool" {
				out = append(out, f)
			}
		}
	}
	return m.withoutCopies(ctx, p, out)
}

// withoutCopies removes from passages of the model what a tool printed before.
func (m Ops) withoutCopies(ctx context.Context, p state.Project, list []search.Passage) (out []search.Passage, err error) {
	st, err := trust.On(m.DB).Outline(ctx, p.ID)
	if err != nil {
		return nil, err
	}
	bySession := map[string][]int{}
	for i, f := range list {
		if f.Who == "assistant" || f.Who == "summary" {
			bySession[f.Session] = append(bySession[f.Session], i)
		}
	}
	for session, at := range bySession {
		s := st.Session(session)
		var texts []string
		for _, i := range at {
			texts = append(texts, list[i].Text)
		}
		cut := quotes.Of(texts)
		if s == nil || s.Now().Size > mostCut || originals.On(m.DB).Stream(ctx, p.ID, s.Now().Original, cut.Read) != nil {
			for _, i := range at {
				list[i].Text = ""
			}
			continue
		}
		for k, i := range at {
			whole := len(list[i].Text)
			if list[i].Text = cut.Cut(k); len(strings.Trim(list[i].Text, " …*-`.:")) < whole/2 {
				list[i].Text = ""
			}
		}
	}
	return slices.DeleteFunc(list, func(f search.Passage) bool { return f.Text == "" }), nil
}

// passageKey is the key of a passage that must not be delivered twice: that of its exchange.
func passageKey(p search.Passage) string { return fmt.Sprintf("%s#%d", p.Session, p.Exchange) }

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
