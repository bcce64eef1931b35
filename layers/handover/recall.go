package handover

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/brief"
	"github.com/memvcs/mem/layers/exchange"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/search"
	"github.com/memvcs/mem/layers/shell"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
)

// Recall returns passages and files of earlier sessions of the project p that fit a prompt, or no text if nothing fits
// well enough. It reads only digests and the index in the cache.
func Recall(ctx context.Context, db *state.DB, p state.Project, prompt string, o ContextOptions) (Given, error) {
	q := ParsePrompt(prompt)
	if q.Empty() {
		return Given{}, nil
	}
	b, asked, err := promptDigests(ctx, db, p, q, o)
	if err != nil {
		return Given{}, err
	}
	passages, err := answers(ctx, db, p, prompt, q, b, o)
	if err != nil {
		return Given{}, err
	}
	sections := Prompt(q, b.digests, asked, passages, o.Delivered)
	if len(sections) == 0 {
		return Given{}, nil
	}
	return give(db, b.st, brief.Sheet{Project: cmp.Or(b.st.Name, p.Name), More: "`" + o.Program + " search` finds more.", Sections: sections}, o.Limit),
		nil
}

// passageWidth is the size of a passage in bytes, about.
const passageWidth = 330

// answers returns the passages of earlier messages that answer a prompt, the best first, of the sessions that may be
// mentioned: whole sentences, and of the model only what no tool printed before. Of a call of a tool it is what the
// model gave to it: what a tool printed is not quoted.
func answers(ctx context.Context, db *state.DB, p state.Project, prompt string, q Query, b *briefing, o ContextOptions) (out []search.Passage, err error) {
	known, without := map[string]*state.Session{}, map[string]bool{}
	if own := b.st.Session(o.Session); own != nil {
		without[own.ID] = true
	}
	for _, s := range b.sessions {
		known[s.ID] = s
	}
	found, err := search.Passages(ctx, db, []refs.Project{p.ID}, prompt, search.PassageOptions{Limit: 4 * maxPassages,
		Width: passageWidth, Without: without, Part: search.Given, AsIs: true})
	if err != nil {
		return nil, nil // a damaged index is made again by the next search; the digests answer
	}
	best, ran := 0.0, map[string]bool{}
	for _, f := range found {
		s := known[f.Session]
		if best = max(best, f.Share); s == nil || f.Share < max(leastShare, shareOfFirst*best) || o.Delivered[passageKey(f)] || len(out) == maxPassages {
			continue
		}
		if f.Who == "tool" && !f.Edit {
			var commands string
			if f.Text, commands = commandsIn(f.Given, q); commands != "" && ran[commands] {
				continue // a passage tells of them
			}
			ran[commands] = true
		}
		if slices.Contains([]string{"note", "script", "agent"}, f.Who) {
			continue
		}
		if f.Text != "" && f.Who != "user" && f.Who != "plan" {
			f.Text = dropCopies(ctx, db, p, s, f.Text)
		}
		if f.Text != "" && f.Failure != nil {
			var broken []Form
			if k := slices.IndexFunc(b.digests, func(d Digest) bool { return d.Session == s.ID }); k >= 0 {
				broken = b.digests[k].Broken
			}
			f.Text += failureOf(f.Failure, f.Text, broken, func(text string) string { return dropCopies(ctx, db, p, s, text) })
		}
		if f.Text == "" && len(exchange.Shared(f.Request, q.topic())) < leastAsked { // what led to the call may say it
			continue
		}
		out = append(out, f)
	}
	return out, nil
}

// failureOf says that a call failed, and why: by the form of one of its commands, or as the model said next. own removes what is
// not its own from a text.
func failureOf(f *search.Failure, commands string, broken []Form, own func(string) string) string {
	if k := slices.IndexFunc(broken, func(b Form) bool { return strings.Contains(commands, b.Line) }); k >= 0 {
		return "; failed: " + failing{Form: broken[k], sessions: 1}.why()
	}
	text := "; failed"
	if f.Exit != "" {
		text += ", exit " + f.Exit
	}
	if said := Gist(f.Said, passageWidth); said != "" && !announces(said) && len(passesIn(said)) == 0 {
		if said = own(said); said != "" {
			text += "; said next: " + outcome(said, showWant)
		}
	}
	return text
}

// commandsIn returns the commands of a shell line that a call runs, in names, and text with the sentence that announced it before
// them: "" if no word of the prompt is in it.
func commandsIn(given string, q Query) (text, commands string) {
	lead, line, ok := strings.Cut("\n"+given, "\nBash ")
	if !ok {
		return "", ""
	}
	var out []string
	size := 0
	for _, s := range shell.Parse(line[:min(len(line), maxForm)]) {
		c := brief.SafeCommand(bare(s), maxCommandPassage)
		if c == "" || !s.Acts() || slices.Contains(out, c) {
			continue
		}
		if size += len(c); size > 2*maxCommandPassage {
			break
		}
		if subject := (exchange.Command{Cmd: line}).Subject(); subject != "" && strings.HasPrefix(c, "git commit") {
			c = "git commit “" + subject + "”"
		}
		out = append(out, c)
	}
	commands = strings.Join(out, "; ")
	text = strings.TrimSpace(strings.TrimSpace(lead) + " ran: " + commands)
	if len(out) == 0 || len(exchange.Shared(text, q.said)) == 0 {
		return "", ""
	}
	return text, commands
}

// maxCommandPassage is the size of a command in a passage.
const maxCommandPassage = 120

// leastAsked is how many words of a prompt a request has that stands for what it led to.
const leastAsked = 2

// mostGaps is how many gaps copies may leave in a passage that can be read.
const mostGaps = 1

// dropCopies removes from a passage of the model what a tool printed before, and returns "" if little is left.
func dropCopies(ctx context.Context, db *state.DB, p state.Project, s *state.Session, text string) string {
	cut := passagesOf([]string{text})
	if marks, ok := readMarks(db, s); ok {
		cut.Mark(marks)
	} else if s.Now().Size > mostRead || originals.Stream(ctx, db, p.ID, s.Now().Original, cut.Read) != nil {
		return ""
	}
	left := cut.Cut(0)
	if len(strings.Trim(left, " …*-`.:")) < len(text)/2 || strings.Count(left, "…")-strings.Count(text, "…") > mostGaps {
		return ""
	}
	return left
}

// passageKey is the key of a passage that must not be delivered twice: that of its exchange.
func passageKey(p search.Passage) string { return fmt.Sprintf("%s#%d", p.Session, p.Exchange) }

// promptDigests returns the sessions that may be mentioned, those of their digests that are in the cache, the newest
// first, and the words that each of the turns of these shares with the prompt.
func promptDigests(ctx context.Context, db *state.DB, p state.Project, q Query, o ContextOptions) (b *briefing,
	asked [][][]string, err error) {
	b = &briefing{m: db, o: o}
	if b.st, err = trust.Outline(ctx, db, p.ID); err != nil {
		return nil, nil, err
	}
	kept := readDigests(db.CachePath("digests", string(p.ID)))
	at := make(map[string]int, len(kept.List))
	for i := range kept.List {
		at[kept.List[i].Session] = i
	}
	words := kept.turnsWith(q.words)
	b.sessions = b.recent()
	for _, s := range b.sessions {
		i, ok := at[s.ID]
		if !ok {
			continue
		}
		d := &kept.List[i]
		if d.Original == s.Now().Original || s.Point(d.Original) != nil {
			b.digests, asked = append(b.digests, d.Rebase(o.Dir)), append(asked, words[i])
		}
	}
	return b, asked, nil
}
