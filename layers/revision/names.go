package revision

import (
	"context"
	"strings"
	"unicode"

	"github.com/memvcs/mem/layers/brief"
	"github.com/memvcs/mem/layers/claims"
	"github.com/memvcs/mem/layers/facts"
	"github.com/memvcs/mem/layers/permanent"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs"
)

// A namer says which names that a model gives to the jobs of a session are taken. Later sessions read them
// unasked, so no tool, file or page may choose one: a name is short, no order, made up of no name, number or
// path that was not spoken of, and not copied from what the user and the model did not say.
type Namer struct {
	known claims.Source // what the user and the model said in the session
	words string        // letters of it
	heard string        // letters of what else stands in the session
}

// Limits of a name that a model gives.
const (
	longestName = 100 // bytes
	mostWords   = 10
)

// Namer reads what names of the exchanges of a session are looked up in.
func (m Ops) Namer(ctx context.Context, p refs.Project, s *state.Session, open []*facts.Exchange) (Namer, error) {
	cited := map[int]bool{}
	for _, x := range open {
		for n := x.From; n <= x.To; n++ {
			cited[n] = true
		}
	}
	q, err := m.Quotable(ctx, p, s, s.Now(), cited)
	if err != nil {
		return Namer{}, err
	}
	var said, heard strings.Builder
	for _, parts := range q.Text.Parts {
		for _, part := range parts {
			switch part.Speaker {
			case facts.ByUser, facts.ByScript, facts.ByAssistant:
				said.WriteString(part.Text + "\n")
			default:
				heard.WriteString(part.Text + "\n")
			}
		}
	}
	return NewNamer(said.String(), heard.String()), nil
}

func NewNamer(said, heard string) Namer {
	return Namer{known: claims.NewSource(said), words: letters(said), heard: letters(heard)}
}

// Takes reports whether a name may be given.
func (n Namer) Takes(name string) bool {
	words := strings.Fields(name)
	plain := letters(name)
	switch {
	case plain == "", len(name) > longestName, len(words) > mostWords:
		return false
	case brief.Plain(name, longestName) != strings.Join(words, " "), strings.Contains(name, "##"):
		return false
	case len(permanent.Requests(name)) > 0, len(n.known.Missing(name)) > 0:
		return false
	}
	return len(words) < 2 || !strings.Contains(n.heard, plain) || strings.Contains(n.words, plain)
}

// letters returns the letters and digits of s alone, in lower case.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}
