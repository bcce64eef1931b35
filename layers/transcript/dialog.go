package transcript

import (
	"slices"
	"strings"
)

// An Answer is a question of a dialog with the user's answer: the options that he chose or the text that he typed, and
// his notes.
type Answer struct {
	Question string `json:"question"`
	Answer   string `json:"answer,omitempty"`
	Notes    string `json:"notes,omitempty"`
}

const (
	askTool    = "AskUserQuestion"
	otherTools = "mcp__" // the start of the names of tools whose results, errors too, other programs write

	// Refusal is the start of the result of a call that the user refused.
	Refusal = "The user doesn't want to proceed with this tool use."
	// RefusedFor is what the client writes before the user's reason.
	RefusedFor  = "the user said:\n"
	clarify     = "The user wants to clarify these questions."
	askedBefore = "Questions asked:\n"

	// Answered is the start of the result of a dialog.
	Answered = "User has answered your questions: "
)

// OfOther reports whether the name of a tool is that of a tool of another program, which writes its results and errors.
func OfOther(tool string) bool { return strings.HasPrefix(tool, otherTools) }

// refusalTrailers are the beginnings of what the client writes after the user's words in a refusal.
var refusalTrailers = []string{"\n\nNote: The user's next message may contain a correction or preference."}

// result returns what the user said in the result b of a call: answers in a dialog or the reason for a refusal. A tool
// of another program can write the same texts and is not believed.
func (q *Queue) result(m Message, b Block) (Said, bool) {
	said := Said{ToolID: b.ToolID}
	key := queueKey(b.ToolID)
	asked := slices.Contains(q.Asked, key)
	switch {
	case slices.Contains(q.Other, key):
	case b.IsError:
		said.Text, said.Answers = refusal(m, b.Result(), asked)
		said.Refusal = said.Answers == nil
	case asked:
		said.Answers = dialog(m.ToolUseResult, b.Result())
	}
	if said.Answers != nil {
		said.Text = answerText(said.Answers)
	}
	return said, strings.TrimSpace(said.Text) != ""
}

// refusal returns the user's reason in the result of a refused call, or his answers if he refused a dialog after some
// questions.
func refusal(m Message, text string, asked bool) (string, []Answer) {
	if !strings.HasPrefix(text, Refusal) {
		return "", nil
	}
	_, said, _ := strings.Cut(text, RefusedFor)
	if m.Feedback != "" {
		said = m.Feedback
	}
	for _, trailer := range refusalTrailers {
		if i := strings.LastIndex(said, trailer); i >= 0 {
			said = said[:i]
		}
	}
	if !asked || !strings.HasPrefix(said, clarify) {
		return said, nil
	}
	_, list, _ := strings.Cut(said, askedBefore)
	var out []Answer
	for part := range strings.SplitSeq("\n"+list, "\n- \"") {
		question, answer, ok := strings.Cut(part, "\"\n  Answer: ")
		if ok {
			out = append(out, Answer{Question: question, Answer: strings.TrimSpace(answer)})
		}
	}
	return "", out
}

// dialog returns the answers in the client's copy of the result of a dialog, or in its text if the client kept none and
// there is only one.
func dialog(copied []byte, text string) []Answer {
	var order []string
	answers, notes := map[string]string{}, map[string]string{}
	_ = members(copied, func(key, value []byte) bool { // anything else has no answers
		switch string(key) {
		case "questions":
			elements(value, func(q []byte) bool {
				order = append(order, member(q, "question"))
				return true
			})
		case "answers":
			_ = members(value, func(key, value []byte) bool { // as above
				question := quoted(append(append([]byte{'"'}, key...), '"'))
				answers[question] = answerOf(value)
				if !slices.Contains(order, question) {
					order = append(order, question)
				}
				return true
			})
		case "annotations":
			_ = members(value, func(key, value []byte) bool { // as above
				notes[quoted(append(append([]byte{'"'}, key...), '"'))] = member(value, "notes")
				return true
			})
		}
		return true
	})
	var out []Answer
	for _, question := range order {
		if a := (Answer{question, answers[question], notes[question]}); a.Answer != "" || a.Notes != "" {
			out = append(out, a)
		}
	}
	if out != nil {
		return out
	}
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), Answered)
	if !ok || strings.Count(rest, `"="`) != 1 {
		return nil
	}
	question, rest, _ := strings.Cut(strings.TrimPrefix(rest, `"`), `"="`)
	answer, _, ok := strings.Cut(rest, `". You can now continue`)
	if !ok {
		answer = strings.TrimSuffix(strings.TrimSuffix(rest, "."), `"`)
	}
	answer, _, _ = strings.Cut(answer, `" selected preview:`) // the model's
	return []Answer{{Question: question, Answer: answer}}
}

// answerOf returns an answer: a string or a list of strings.
func answerOf(raw []byte) string {
	if s := quoted(raw); s != "" {
		return s
	}
	var list []string
	elements(raw, func(v []byte) bool { // anything else is no answer
		list = append(list, quoted(v))
		return true
	})
	return strings.Join(list, ", ")
}

// answerText returns the user's words in answers. Those with a marker come last, because a marker runs to the end.
func answerText(answers []Answer) string {
	var parts []string
	for _, a := range answers {
		parts = append(parts, a.Answer, a.Notes)
	}
	parts = slices.DeleteFunc(parts, func(s string) bool { return strings.TrimSpace(s) == "" })
	slices.SortStableFunc(parts, func(a, b string) int { return marked(a) - marked(b) })
	return strings.Join(parts, "\n")
}

func marked(s string) int {
	if strings.Contains(s, "##keepit") {
		return 1
	}
	return 0
}
