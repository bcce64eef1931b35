package handover

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/memvcs/mem/layers/brief"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/transcript"
)

// citing returns the source of a message.
func citing(session string, n int) string { return fmt.Sprintf("%s#%d", records.ShortID(session), n) }

// waiting reports whether the user asked something and got no answer.
func (t Turn) waiting() bool {
	return t.Answered.N == 0 && t.Gone == 0 && !t.Script && !greeting().MatchString(t.Asked.Text)
}

// greeting matches a request that asks for nothing: greetings, thanks and praise.
var greeting = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^\W*((hi|hello|hey|yo|hallo|there|again|claude|good|morning|evening|night|thanks?|thx|ty|you|so|very|much|` +
		`a|lot|ok|okay|great|perfect|nice|cool|awesome|lgtm|well|done|job|bye|test)\b\W*)*$`)
})

// author returns the author of the request if it is not the user, in the words of [transcript.Author].
func (t Turn) author() string {
	switch {
	case t.Plan != "":
		return transcript.ByPlan
	case t.Script:
		return transcript.ByScript
	}
	return ""
}

// by returns the trust of the request: a plan is the model's.
func (t Turn) by() brief.Trust {
	if t.Plan != "" || t.Script {
		return brief.Assistant
	}
	return brief.User
}

// key is the key of a turn that must not be delivered twice.
func (t Turn) key(session string) string { return fmt.Sprintf("%s#%d", session, t.Asked.N) }

// answered reports whether the model answered a turn.
func (t Turn) answered() bool { return t.Answered.Text != "" || t.Settled != "" }

// tag matches the tags of a marker with the blanks after them.
var tag = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)##(keepit[0-9. ]*|/keepit)##\s*`)
})

// quoted returns a cut text in quotes, without the tags of markers: the pinned text is listed with its weight.
func quoted(s string, most int) string {
	if strings.Contains(s, "##") {
		s = tag().ReplaceAllString(s, "")
	}
	return fmt.Sprintf("“%s”", Cut(s, most))
}

// request returns the cut request of a turn in quotes; of a plan its heading, because plan mode writes the same words
// before each plan.
func (t Turn) request(most int) string {
	if t.Script {
		return "(a headless run)" // what a script sent is not quoted
	}
	if t.Plan != "" {
		return "to implement the plan " + plan(t.Plan, most)
	}
	if t.To != "" {
		return quoted(t.Asked.Text, most) + " to " + quoted(t.To, max(most, maxTo))
	}
	return "“" + cutAt(tag().ReplaceAllString(t.Asked.Text, ""), most, most*2/3) + "”" // what is asked often stands last
}

// then returns the request as one after another.
func (t Turn) then(most int) string {
	if t.To != "" {
		return "then answered " + t.request(most)
	}
	return "then " + t.request(most)
}

// verb says what the user did with a request.
func (t Turn) verb() string {
	if t.To != "" {
		return "answered"
	}
	return "asked"
}

// plan returns the cut heading of a plan in quotes.
func plan(heading string, most int) string {
	if rest, is := strings.CutPrefix(heading, "Plan"); is {
		heading = strings.TrimLeft(rest, " :-–—")
	}
	return quoted(heading, most)
}

// outcomeLead is before the outcome of a turn.
const outcomeLead = "Outcome: "

// ending returns how a turn ended, at most so long. Only the last one of a session can have ended during the work.
func ending(d Digest, t Turn, most int) brief.Item {
	it := brief.Item{Text: outcomeLead + outcome(t.Answered.Text, most), Trust: brief.Assistant,
		Source: citing(d.Session, t.Answered.N), Why: "the model's own last words"}
	switch {
	case t.Stopped > 0:
		it.Text, it.Source = "Interrupted by the user.", citing(d.Session, t.Stopped)
		it.Trust, it.Why = brief.User, "the model did not go on"
	case t.Gone > 0:
		it.Text, it.Source = "What followed was forgotten.", citing(d.Session, t.Gone)
		if t.Answered.Text != "" {
			it.Text = "The rest was forgotten, after: " + outcome(t.Answered.Text, most)
		}
		it.Trust, it.Why = brief.User, "mem forget deleted it"
	case t.Answered.Text == "" && t.Settled != "":
		it.Text, it.Why = outcomeLead+t.Settled+".", "a fact tells it"
	case t.Answered.Text == "" && t.Answered.N > 0:
		it.Text, it.Why = "Ended with a text that a tool had printed.", "the model only repeated the output of a tool"
	case t.Answered.Text == "":
		it.Text, it.Source = "Ended before an answer.", citing(d.Session, max(t.Asked.N, t.Working))
		it.Why = "the model wrote no text after the request"
	case t.Working > 0 && t.Seq < d.Turns[len(d.Turns)-1].Seq:
		if it.Text = "No answer before the next request"; announces(t.Answered.Text) {
			it.Text += "."
		} else {
			it.Text += "; the last words were: " + outcome(t.Answered.Text, most)
		}
		it.Why = "the user wrote while the model worked"
	case t.Working > 0:
		it.Text = "Ended during the work, after: " + outcome(t.Answered.Text, most)
		it.Why = "the model's last words, before its last tool call"
	case announces(t.Answered.Text) && !strings.Contains(t.Answered.Text, missing) && !strings.Contains(t.Answered.Text, "```"):
		it.Text = "No answer; the last words were: " + outcome(t.Answered.Text, most)
		it.Why = "the model only said what it would do"
	}
	return it
}

func times(n int, what string) string { return records.Numbered(n, what, what+"s") }
