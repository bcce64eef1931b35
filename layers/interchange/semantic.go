package interchange

import (
	"time"

	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/knowledge/permanent"
	"github.com/memvcs/mem/objects"
)

// A MessageRef names a quoted message; Original is the transcript in which it was found, "" for the newest one.
type MessageRef struct {
	Session  string
	Original string
	Message  int
}

// CitedMessages returns the messages quoted in the entries of [Semantic].
func CitedMessages(p *Project) map[MessageRef]bool {
	out := map[MessageRef]bool{}
	Semantic(p, func(c MessageRef) string {
		out[c] = true
		return ""
	})
	return out
}

// Semantic returns semantic.json: the rules and all live facts as semantic memories. uuid returns the UUID of a message, ""
// if it has none or is missing.
func Semantic(p *Project, uuid func(MessageRef) string) objects.Object {
	memories := []objects.Object{}
	add := func(id, kind, text string, sure Hundredths, sources []objects.Object, made time.Time, byUser bool) {
		memories = append(memories, objects.Object{"id", id, "type", kind, "content", text, "confidence", sure,
			"sources", sources, "extractedAt", instant(made), "validatedByUser", byUser})
	}
	source := func(m MessageRef, quote string) objects.Object {
		return objects.Object{"sessionId", m.Session, "messageUuid", uuid(m), "excerpt", quote}
	}
	originals := map[string]string{}
	for i := range p.Facts.Exchanges {
		originals[p.Facts.Exchanges[i].ID] = p.Facts.Exchanges[i].Original.String()
	}
	quotes := func(f facts.Fact) []objects.Object {
		list := []objects.Object{}
		for _, e := range f.Evidence {
			list = append(list, source(MessageRef{f.Session, originals[f.Exchange], e.Message}, e.Quote))
		}
		return list
	}
	for _, r := range p.rules() {
		list := []objects.Object{}
		for _, w := range r.Quotes {
			list = append(list, source(MessageRef{w.Session, "", w.Message}, w.Text))
		}
		for _, id := range r.Evidence {
			if f, ok := p.Facts.Fact(id); ok && f.Revoked == "" {
				list = append(list, quotes(f)...)
			}
		}
		add(r.ID, "pattern", ruleText(r), Hundredths(r.Confidence), list, r.Created, r.Stated)
	}
	for f := range p.Facts.All() {
		if f.Current() {
			add(f.ID, semanticType(f.Kind), content(f), confidence(f), quotes(*f), f.Extracted, f.Confirmed)
		}
	}
	return objects.Object{"memories", memories}
}

// semanticType returns the type of the memory of a fact.
func semanticType(k facts.Kind) string {
	if k == facts.Decision || k == facts.Preference {
		return string(k)
	}
	return "fact"
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
