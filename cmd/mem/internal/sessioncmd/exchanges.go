package sessioncmd

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/checkout"
	"github.com/memvcs/mem/layers/forget"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/transcript"
)

// shownExchanges is how many exchanges show prints of the start and of the end of a session.
const shownExchanges = 2

// longestText is the length in characters to which show shortens the texts of a session.
const longestText = 300

// showExchanges prints the first and the last exchanges of a session, and a hint if their texts are shortened.
func showExchanges(ctx context.Context, run app.Run, rev state.Rev) error {
	all, err := checkout.Exchanges(ctx, run.DB, rev)
	if err != nil {
		return err
	}
	gone, err := forget.ForgottenMessages(ctx, run.DB, rev.Project.ID, rev.Session, 1, rev.Session.Now().Scan.Values)
	if err != nil {
		return err
	}
	gone = slices.DeleteFunc(gone, func(m forget.ForgottenMessage) bool { return m.Part })
	until := func(n int) { // prints which messages before message n were forgotten
		i := slices.IndexFunc(gone, func(m forget.ForgottenMessage) bool { return m.Message >= n })
		if i < 0 {
			i = len(gone)
		}
		if i > 0 {
			run.Printf("%s\n", run.Style().Cyan(spans(gone[:i])+" forgotten"))
		}
		gone = gone[i:]
	}
	cut, left := 0, 0 // the first message that is shortened, and how many lines are not shown
	for i, x := range all {
		if i >= shownExchanges && i < len(all)-shownExchanges {
			if i == shownExchanges {
				n := len(all) - 2*shownExchanges
				run.Printf("\n... %s: mem show %s\n", term.Count(n, "more exchange"),
					term.Shell(fmt.Sprintf("%s#%d..%d", term.ShortID(rev.Session.ID), x.Asked.Message,
						all[len(all)-shownExchanges].Asked.Message-1)))
			}
			gone = slices.DeleteFunc(gone, func(m forget.ForgottenMessage) bool { return m.Message < all[i+1].Asked.Message })
			continue
		}
		if i > 0 {
			until(x.Asked.Message)
		}
		run.Printf("\n")
		left += x.Lines
		for _, t := range []checkout.Turn{x.Asked, x.Answered} {
			if t.Author == "" {
				continue
			}
			until(t.Message)
			left--
			if turnLine(run.Env, t) && cut == 0 {
				cut = t.Message
			}
		}
	}
	until(math.MaxInt)
	id := term.ShortID(rev.Session.ID)
	switch {
	case left > 0:
		missing := cmp.Or(app.If(left > 1, "are not shown"), "is not shown")
		if cut > 0 {
			missing += ", long texts are shortened"
		}
		run.Hint("%s within these exchanges %s; in full: %s, or --format text", term.Count(left, "line"), missing,
			term.Shell("mem", "show", fmt.Sprintf("%s#1..%d", id, rev.Session.Now().Scan.Values)))
	case cut > 0:
		run.Hint("long texts are shortened; in full: %s, or --format text", term.Shell("mem", "show", fmt.Sprintf("%s#%d", id, cut)))
	}
	return nil
}

// spans returns the numbers of messages: "#4, #7..9".
func spans(list []forget.ForgottenMessage) string {
	var out []string
	for i := 0; i < len(list); {
		first, k := list[i].Message, i+1
		for k < len(list) && list[k].Message == first+k-i {
			k++
		}
		if last := list[k-1].Message; last > first {
			out = append(out, fmt.Sprintf("#%d..%d", first, last))
		} else {
			out = append(out, fmt.Sprintf("#%d", first))
		}
		i = k
	}
	return strings.Join(out, ", ")
}

// authorOf returns the author of a turn, where there is room.
func authorOf(t checkout.Turn) string {
	if t.Author == transcript.ByPlan {
		return transcript.PlanLabel
	}
	return t.Author
}

// turnLine prints the number, author and first words of a turn, and reports whether the text is shortened.
func turnLine(e *app.Env, t checkout.Turn) bool {
	text := tokens.OneLine(t.Text, longestText)
	e.Printf("%s  %s\n", e.Style().Cyan(fmt.Sprintf("#%d %s", t.Message, authorOf(t))), e.Safe(text))
	return utf8.RuneCountInString(text) == longestText && strings.HasSuffix(text, "…")
}

// TurnWriter returns a function that writes turns to w, each text under its number and author.
func TurnWriter(w io.Writer) func(checkout.Turn) error {
	between, last := "", checkout.Turn{}
	return func(t checkout.Turn) error {
		head := app.If(t.Message != last.Message || t.Author != last.Author, fmt.Sprintf("%s#%d %s\n", between, t.Message, authorOf(t)))
		between, last = "\n", t
		_, err := io.WriteString(w, head+strings.TrimRight(t.Text, "\n")+"\n")
		return err
	}
}
