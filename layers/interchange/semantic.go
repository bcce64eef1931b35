package interchange

import (
	"time"

	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/knowledge/permanent"
)

// SemanticFile is semantic.json: facts and rules as semantic memories.
type SemanticFile struct {
	Memories []SemanticEntry `json:"memories"`
}

// The types of semantic memories.
const (
	Pattern    = "pattern"    // a rule
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
	Message string `json:"messageUuid"` // "" if the message has none or is missing
	Excerpt string `json:"excerpt"`
}

// A MessageRef names a quoted message; Original is the transcript in which it was found, "" for the newest one.
type MessageRef struct {
	Session  string
	Original string
	Message  int
}

// CitedMessages returns the messages quoted in the entries of [Semantic].
func CitedMessages(p *Project) map[MessageRef]bool {
	out := map[MessageRef]bool{}
	semantic(p, func(c MessageRef) string {
		out[c] = true
		return ""
	})
	return out
}

// Semantic returns semantic.json with all live facts. uuid returns the UUID of a message.
func Semantic(p *Project, uuid func(MessageRef) string) SemanticFile {
	return SemanticFile{semantic(p, uuid)}
}

func semantic(p *Project, uuid func(MessageRef) string) []SemanticEntry {
	out := []SemanticEntry{}
	originals := map[string]string{}
	for i := range p.Facts.Exchanges {
		originals[p.Facts.Exchanges[i].ID] = p.Facts.Exchanges[i].Original.String()
	}
	quotes := func(f facts.Fact) []SemanticSource {
		list := []SemanticSource{}
		for _, e := range f.Evidence {
			list = append(list, SemanticSource{f.Session, uuid(MessageRef{f.Session, originals[f.Exchange], e.Message}),
				e.Quote})
		}
		return list
	}
	for _, r := range p.rules() {
		e := SemanticEntry{r.ID, Pattern, ruleText(r), Hundredths(r.Confidence), []SemanticSource{},
			instant(r.Created), r.Stated}
		for _, w := range r.Quotes {
			e.Sources = append(e.Sources, SemanticSource{w.Session, uuid(MessageRef{w.Session, "", w.Message}), w.Text})
		}
		for _, id := range r.Evidence {
			if f, ok := p.Facts.Fact(id); ok && f.Revoked == "" {
				e.Sources = append(e.Sources, quotes(f)...)
			}
		}
		out = append(out, e)
	}
	for f := range p.Facts.All() {
		if f.Current() {
			out = append(out, SemanticEntry{f.ID, semanticType(f.Kind), content(f), confidence(f), quotes(*f), instant(f.Extracted),
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

// confidence derives the confidence of a fact from its verdict and trust.
func confidence(f *facts.Fact) Hundredths {
	switch {
	case f.Confirmed:
		return 100
	case f.Verdict == facts.Quoted && f.Trust >= facts.Assistant:
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
