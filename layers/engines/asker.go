package engines

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/memvcs/mem/layers/answers"
	"github.com/memvcs/mem/layers/tokens"
)

// ErrAnswer means that a model returned two malformed answers to one question.
var ErrAnswer = errors.New("the model's answer is malformed")

// An Asker sends questions to a model under a meter, and records the exchanges. It is for one task and not safe for
// concurrent use.
type Asker struct {
	model     Model
	opts      Options
	exchanges []Exchange
	receipt   Receipt
}

// NewAsker returns an asker for m.
func NewAsker(m Model, o Options) *Asker {
	if o.Window <= 0 {
		o.Window = defaultWindow
	}
	o.Window = max(o.Window, minWindow)
	return &Asker{model: m, opts: o}
}

// minWindow is the smallest window, in tokens. It is much longer than [headerTokens].
const minWindow = 1000

// Metered returns a new asker with the same model and another meter.
func (a *Asker) Metered(m Meter) *Asker {
	o := a.opts
	o.Meter = m
	return NewAsker(a.model, o)
}

// ID returns the name of the engine and the model.
func (a *Asker) ID() string { return a.model.ID() }

// Window is the number of tokens of a session in one request.
func (a *Asker) Window() int { return a.opts.Window }

// Exchanges returns the questions and answers in order.
func (a *Asker) Exchanges() []Exchange { return a.exchanges }

// Receipt returns the usage so far.
func (a *Asker) Receipt() Receipt { return a.receipt }

// A Form is a question whose answer is a JSON object.
type Form struct {
	System, Prompt string
	Schema         json.RawMessage // of the object
	MaxTokens      int             // of the answer
}

// Ask asks for an object, which decode reads. An answer that it refuses is requested once more, with its faults. The error
// wraps [ErrAnswer] if the second one is refused, too.
func Ask[T any](ctx context.Context, a *Asker, f Form, decode func(Answer) (T, error)) (none T, err error) {
	prompt := f.Prompt
	var wrong error
	for try := range 2 {
		a.receipt.Retried += try
		answer, err := a.ask(ctx, f)
		if err != nil {
			return none, err
		}
		var out T
		if out, wrong = decode(answer); wrong == nil {
			return out, nil
		}
		// the faults may quote the record, so they stand between fences
		f.Prompt = prompt + "\nAn earlier answer was refused:\n" +
			answers.Fenced("faults", tokens.OneLine(visible(wrong.Error()), 2000)+"\n") +
			"Write the whole answer again, without these faults.\n"
	}
	return none, fmt.Errorf("%w: %w", ErrAnswer, wrong)
}

// visible returns a text without hidden characters.
func visible(s string) string {
	if !strings.ContainsFunc(s, answers.Hidden) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if answers.Hidden(r) {
			return -1
		}
		return r
	}, s)
}

// question returns a question to the model, without a limit of its cost.
func (a *Asker) question(f Form) Question {
	return Question{Format: questionFormat, Engine: a.model.ID(), System: f.System, Prompt: strings.ToValidUTF8(f.Prompt, "\uFFFD"),
		Schema: f.Schema, MaxTokens: f.MaxTokens, MaxMicros: -1}
}

// ask sends one question if the meter allows it.
func (a *Asker) ask(ctx context.Context, f Form) (Answer, error) {
	q := a.question(f)
	if a.opts.Meter != nil {
		var err error
		if q.MaxMicros, err = a.opts.Meter.Allow(ctx, a.maxUsage(questionTokens(q), q.MaxTokens)); err != nil {
			return Answer{}, err
		}
	}
	answer, err := a.model.Ask(ctx, q)
	answer.Format, answer.Text = answerFormat, strings.ToValidUTF8(answer.Text, "\uFFFD")
	answer.Usage = answer.Usage.clamp()
	if answer.Usage.Micros == 0 {
		answer.Usage.Micros = a.opts.Price.Cost(answer.Usage.Input, answer.Usage.Output)
	}
	a.receipt.Requests++
	a.receipt.Usage = a.receipt.Usage.Add(answer.Usage)
	if a.opts.Meter != nil {
		err = errors.Join(err, a.opts.Meter.Spend(context.WithoutCancel(ctx), answer.Model, answer.Usage))
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return answer, fmt.Errorf("ask %s: %w", a.model.ID(), err)
	}
	a.exchanges = append(a.exchanges, Exchange{q, answer})
	return answer, nil
}

// EstimateCost returns the maximum cost of a question without asking it.
func (a *Asker) EstimateCost(f Form) Usage {
	return a.maxUsage(questionTokens(a.question(f)), f.MaxTokens)
}

// maxUsage returns the usage of a question of n tokens whose answer has at most most tokens.
func (a *Asker) maxUsage(n, most int) Usage { return Usage{n, most, a.opts.Price.Cost(n, most)} }

// questionTokens estimates the tokens of a question.
func questionTokens(q Question) int {
	return tokens.For("").Scale(tokens.Raw(q.System) + tokens.Raw(q.Prompt) + tokens.Raw(string(q.Schema)))
}
