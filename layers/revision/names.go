package revision

import (
	"context"
	"strings"
	"unicode"

	"github.com/memvcs/mem/layers/answers"
	"github.com/memvcs/mem/layers/brief"
	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/knowledge/permanent"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs"
)

// A Namer checks names that a model gives to the concepts of a session. Later sessions read these names, so tools,
// files and pages must not choose them: a name is short, is no instruction, contains only names, numbers and paths
// that the user or the model mentioned, and is not copied from other text.
type Namer struct {
	known answers.Source // text of the user and the model
	words string         // letters of that text
	heard string         // letters of all other text
}

// Limits of a name that a model gives.
const (
	longestName = 100 // bytes
	mostWords   = 10
)

// LoadNamer returns the namer for exchanges of a session.
func LoadNamer(ctx context.Context, db *state.DB, p refs.Project, s *state.Session, open []*facts.Exchange) (Namer, error) {
	cited := map[int]bool{}
	for _, x := range open {
		for n := x.From; n <= x.To; n++ {
			cited[n] = true
		}
	}
	q, err := Quotable(ctx, db, p, s, s.Now(), cited)
	if err != nil {
		return Namer{}, err
	}
	var said, heard strings.Builder
	for _, parts := range q.Text.Parts {
		for _, part := range parts {
			switch part.Speaker {
			case facts.ByUser, facts.ByScript, facts.ByAssistant, facts.ByPlan:
				said.WriteString(part.Text + "\n")
			default:
				heard.WriteString(part.Text + "\n")
			}
		}
	}
	return NewNamer(said.String(), heard.String()), nil
}

func NewNamer(said, heard string) Namer {
	return Namer{known: answers.NewSource(said), words: letters(said), heard: letters(heard)}
}

// Takes reports whether a name is allowed.
func (n Namer) Takes(name string) bool {
	words := strings.Fields(name)
	plain := letters(name)
	switch {
	case plain == "", len(name) > longestName, len(words) > mostWords:
		return false
	case brief.Plain(name, longestName) != strings.Join(words, " "), strings.Contains(name, "##"):
		return false
	case len(permanent.FindRequests(name)) > 0, len(n.known.Missing(name)) > 0:
		return false
	}
	return len(words) < 2 || !strings.Contains(n.heard, plain) || strings.Contains(n.words, plain)
}

// letters returns the letters and digits of s in lower case.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}
