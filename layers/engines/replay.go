package engines

import (
	"context"
	"fmt"
	"strings"

	"github.com/memvcs/mem/objects"
)

// Replay is a model that returns recorded answers.
type Replay struct {
	id      string
	answers map[objects.Hash]Answer
}

// NewReplay returns a model with the answers of the exchanges; of two answers to one question the later one counts.
// With the id of the original model it replaces that model, and recipes have the same keys; with an empty id it is an
// engine of its own.
func NewReplay(id string, exchanges []Exchange) *Replay {
	if id == "" {
		id = "replay"
	}
	r := &Replay{id, map[objects.Hash]Answer{}}
	for _, x := range exchanges {
		r.answers[x.Question.key()] = x.Answer
	}
	return r
}

// ID returns the id of the replaced model.
func (r *Replay) ID() string { return r.id }

// Ask returns the recorded answer. It costs nothing. The error wraps [ErrRecorded] if the question was not recorded.
func (r *Replay) Ask(ctx context.Context, q Question) (Answer, error) {
	a, ok := r.answers[q.key()]
	if !ok {
		return Answer{}, ErrRecorded
	}
	a.Usage = Usage{}
	return a, ctx.Err()
}

// EncodeExchanges returns the stored form of exchanges: a question and an answer for each.
func EncodeExchanges(exchanges []Exchange) ([][]byte, error) {
	var out [][]byte
	for _, x := range exchanges {
		for _, v := range []any{x.Question, x.Answer} {
			b, err := objects.JSONLine(v)
			if err != nil {
				return nil, fmt.Errorf("encode the exchange with a model: %w", err)
			}
			out = append(out, b)
		}
	}
	return out, nil
}

// DecodeExchanges parses the result of [EncodeExchanges].
func DecodeExchanges(witnesses [][]byte) ([]Exchange, error) {
	if len(witnesses)%2 != 0 {
		return nil, fmt.Errorf("%d witnesses: a question lacks its answer", len(witnesses))
	}
	var out []Exchange
	for i := 0; i < len(witnesses); i += 2 {
		var x Exchange
		if err := objects.DecodeJSON(witnesses[i], &x.Question); err != nil || x.Question.Format != questionFormat {
			return nil, fmt.Errorf("witness %d is not a question: %w", i+1, orFormat(err, x.Question.Format))
		}
		if err := objects.DecodeJSON(witnesses[i+1], &x.Answer); err != nil || x.Answer.Format != answerFormat {
			return nil, fmt.Errorf("witness %d is not an answer: %w", i+2, orFormat(err, x.Answer.Format))
		}
		out = append(out, x)
	}
	return out, nil
}

func orFormat(err error, format string) error {
	if err != nil {
		return err
	}
	return fmt.Errorf("its format is %q", format)
}

// ModelOf returns the ID of the model and the window in the ID of an engine; ok is false if the engine uses no model.
func ModelOf(engine string) (model string, window int, ok bool) {
	name, rest, _ := strings.Cut(engine, "/")
	_, rest, ok = strings.Cut(rest, " (")
	if !ok {
		return "", 0, false
	}
	if i := strings.LastIndex(rest, "window "); i >= 0 {
		if _, err := fmt.Sscanf(rest[i:], "window %d,", &window); err != nil {
			return "", 0, false
		}
		model = strings.TrimSpace(name + " " + strings.TrimSuffix(rest[:i], ", "))
	}
	return model, window, model != ""
}
