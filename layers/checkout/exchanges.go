package checkout

import (
	"context"

	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/transcript"
)

// A Turn is a text in a session with its author.
type Turn struct {
	Message int    // message number
	Author  string // in the words of [transcript.Author]
	Text    string
}

// Turns calls f with the texts of messages from to to of the session in rev, in order, and calls of tools as people
// read them. An error of f ends it.
func Turns(ctx context.Context, db *state.DB, rev state.Rev, from, to int, f func(Turn) error) error {
	rev.From, rev.To = from, to
	return said(ctx, db, rev, true, func(s originals.Spoken) error { return f(Turn{s.Src[0][0], s.Author, s.Text}) })
}

// An Exchange is a request and the last text of the answer.
type Exchange struct {
	Asked    Turn // of the user, a script or an agent, or an accepted plan; zero if the assistant spoke first
	Answered Turn // zero if there was no answer
	Lines    int  // of the transcript, with a text, these two included: a message has one or more
}

// Exchanges returns the exchanges of the session in rev, in order. The prompts that an agent gives to subagents begin none,
// unless no request precedes them: in the session of a subagent.
func Exchanges(ctx context.Context, db *state.DB, rev state.Rev) ([]Exchange, error) {
	var out []Exchange
	last := 0
	err := Turns(ctx, db, rev, 1, int(^uint(0)>>1), func(t Turn) error {
		switch t.Author {
		case transcript.ByUser, transcript.ByScript, transcript.ByPlan:
			out = append(out, Exchange{Asked: t})
		case transcript.ByAgent:
			if len(out) == 0 || len(out) == 1 && out[0].Asked.Author == "" {
				out = append(out, Exchange{Asked: t})
			}
		}
		if len(out) == 0 {
			out = append(out, Exchange{})
		}
		x := &out[len(out)-1]
		if t.Author == transcript.ByAssistant {
			x.Answered = t
		}
		if t.Message != last {
			x.Lines++
		}
		last = t.Message
		return nil
	})
	if len(out) > 0 && out[0].Asked.Author == "" && out[0].Answered.Author == "" && len(out) > 1 {
		out[1].Lines += out[0].Lines
		out = out[1:]
	}
	return out, err
}
