package layers

import (
	"context"
	"strings"
	"unicode"

	"github.com/memvcs/mem/layers/brief"
	"github.com/memvcs/mem/layers/claims"
	"github.com/memvcs/mem/layers/facts"
	"github.com/memvcs/mem/layers/permanent"
	"github.com/memvcs/mem/refs"
)

// A namer says which names that a model gives to the jobs of a session are taken. Later sessions read them unasked, so no tool, file or
// page may choose one: a name is short, no order, made up of no name, number or path that was not spoken of, and not copied from what
// the user and the model did not say.
type namer struct {
	known claims.Source // what the user and the model said in the session
	words string        // letters of it
	heard string        // letters of what else stands in the session
}

// Limits of a name that a model gives.
const (
	longestName = 100 // bytes
	mostWords   = 10
)

// namer reads what names of the exchanges of a session are looked up in.
func (m *Memory) namer(ctx context.Context, p refs.Project, s *Session, open []*facts.Exchange) (namer, error) {
	cited := map[int]bool{}
	for _, x := range open {
		for n := x.From; n <= x.To; n++ {
			cited[n] = true
		}
	}
	q, err := m.quotable(ctx, p, s, s.Now(), cited)
	if err != nil {
		return namer{}, err
	}
	var said, heard strings.Builder
	for _, parts := range q.text.Parts {
		for _, part := range parts {
			switch part.Speaker {
			case facts.ByUser, facts.ByScript, facts.ByAssistant:
				said.WriteString(part.Text + "\n")
			default:
				heard.WriteString(part.Text + "\n")
			}
		}
	}
	return newNamer(said.String(), heard.String()), nil
}

func newNamer(said, heard string) namer {
	return namer{known: claims.NewSource(said), words: letters(said), heard: letters(heard)}
}

// takes reports whether a name may be given.
func (n namer) takes(name string) bool {
	words := strings.Fields(name)
	plain := letters(name)
	switch {
	case plain == "", len(name) > longestName, len(words) > mostWords:
		return false
	case brief.Plain(name, longestName) != strings.Join(words, " "), strings.Contains(name, "##"):
		return false
	case len(permanent.Stated(name)) > 0, len(n.known.Missing(name)) > 0:
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
