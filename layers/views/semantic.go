package views

import (
	"time"

	"github.com/memvcs/mem/layers/facts"
	"github.com/memvcs/mem/layers/permanent"
)

// SemanticFile is semantic.json: what was learned in sessions, in the shape that the seeds give a semantic memory.
type SemanticFile struct {
	Memories []SemanticEntry `json:"memories"`
}

// The types of semantic memories.
const (
	Pattern    = "pattern"    // a rule, which rests on facts of several sessions or on the user's word
	Decision   = "decision"   // a fact of the kind decision
	Preference = "preference" // a fact of the kind preference
	Plain      = "fact"       // a fact of any other kind
)

// A SemanticEntry is a fact or a rule.
type SemanticEntry struct {
	ID         string           `json:"id"`
	Type       string           `json:"type"`
	Content    string           `json:"content"`
	Confidence Hundredths       `json:"confidence"`
	Sources    []SemanticSource `json:"sources"`
	Extracted  string           `json:"extractedAt"`
	Validated  bool             `json:"validatedByUser"`
}

// A SemanticSource is a quote.
type SemanticSource struct {
	Session string `json:"sessionId"`
	Message string `json:"messageUuid"` // "" of a message that has none, or is not here any more
	Excerpt string `json:"excerpt"`
}

// A Cited is a message that a fact or rule quotes; Original is the transcript that it was looked up in, "" the
// newest one.
type Cited struct {
	Session  string
	Original string
	Message  int
}

// Citations returns the messages that the entries of [Semantic] quote.
func Citations(p *Project) map[Cited]bool {
	out := map[Cited]bool{}
	semantic(p, func(c Cited) string {
		out[c] = true
		return ""
	})
	return out
}

// Semantic returns semantic.json. Like facts.json it is asked for, so it holds all facts that stand. UUID names
// messages.
func Semantic(p *Project, uuid func(Cited) string) SemanticFile {
	return SemanticFile{semantic(p, uuid)}
}

func semantic(p *Project, uuid func(Cited) string) []SemanticEntry {
	out := []SemanticEntry{}
	originals := map[string]string{}
	for i := range p.Facts.Exchanges {
		originals[p.Facts.Exchanges[i].ID] = p.Facts.Exchanges[i].Original.String()
	}
	quotes := func(f facts.Fact) []SemanticSource {
		list := []SemanticSource{}
		for _, e := range f.Evidence {
			list = append(list, SemanticSource{f.Session, uuid(Cited{f.Session, originals[f.Exchange], e.Message}), e.Quote})
		}
		return list
	}
	for _, r := range p.rules() {
		e := SemanticEntry{r.ID, Pattern, ruleText(r), Hundredths(r.Confidence), []SemanticSource{},
			instant(r.Created), r.Stated}
		for _, w := range r.Quotes {
			e.Sources = append(e.Sources, SemanticSource{w.Session, uuid(Cited{w.Session, "", w.Message}), w.Text})
		}
		for _, id := range r.Evidence {
			if f, ok := p.Facts.Fact(id); ok && f.Revoked == "" && p.trusted(f.Device) {
				e.Sources = append(e.Sources, quotes(f)...)
			}
		}
		out = append(out, e)
	}
	for f := range p.Facts.All() {
		if f.Live() && p.trusted(f.Device) {
			out = append(out, SemanticEntry{f.ID, semanticType(f.Kind), f.Text, confidence(f), quotes(*f), instant(f.Extracted),
				f.Confirmed})
		}
	}
	return out
}

func semanticType(k facts.Kind) string {
	switch k {
	case facts.Decision:
		return Decision
	case facts.Preference:
		return Preference
	}
	return Plain
}

// confidence says how far a fact may be relied on: by whether its quotes say it, and who is quoted.
func confidence(f *facts.Fact) Hundredths {
	switch {
	case f.Confirmed:
		return 100
	case f.Verdict != facts.Verified && f.Trust >= facts.Assistant:
		return 50
	case f.Verdict != facts.Verified:
		return 30
	case f.Trust == facts.User:
		return 95
	case f.Trust == facts.Assistant:
		return 80
	}
	return 60
}

func ruleText(r *permanent.Rule) string {
	if r.Problem != "" {
		return r.Problem + ": " + r.Text
	}
	return r.Text
}

func instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
