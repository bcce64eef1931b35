package checkout

import (
	"context"

	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/state"
)

// A Turn is a text in a session with its speaker: user, assistant or tool.
type Turn struct {
	Message int // message number
	Role    string
	Text    string
}

// Turns calls f with the texts of messages from to to of the session in rev, in order, and calls of tools as people
// read them. An error of f ends it.
func Turns(ctx context.Context, db *state.DB, rev state.Rev, from, to int, f func(Turn) error) error {
	rev.From, rev.To = from, to
	return said(ctx, db, rev, true, func(s compress.Segment) error { return f(Turn{s.Src[0][0], s.Role, s.Text}) })
}

// An Exchange is a request of the user and the last text of the answer.
type Exchange struct {
	Asked    Turn
	Answered Turn // zero if there was no answer
}

// Exchanges returns the exchanges of the session in rev, in order.
func Exchanges(ctx context.Context, db *state.DB, rev state.Rev) ([]Exchange, error) {
	var out []Exchange
	err := Turns(ctx, db, rev, 1, int(^uint(0)>>1), func(t Turn) error {
		switch {
		case t.Role == "user":
			out = append(out, Exchange{Asked: t})
		case t.Role == "assistant" && len(out) > 0:
			out[len(out)-1].Answered = t
		}
		return nil
	})
	return out, err
}
