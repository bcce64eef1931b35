package engines

import (
	"context"
	"encoding/json"
)

// An Asker sends arbitrary questions to a model, under the same meter as a [Summarizer], and records the exchanges. It
// is for one task and not safe for concurrent use.
type Asker struct{ s *Summarizer }

// NewAsker returns an asker for m.
func NewAsker(m Model, o Options) *Asker { return &Asker{New(m, o)} }

// Metered returns a new asker with the same model and another meter.
func (a *Asker) Metered(m Meter) *Asker { return &Asker{a.s.Metered(m)} }

// ID returns the name of the engine and the model.
func (a *Asker) ID() string { return a.s.model.ID() }

// Window is the number of tokens of a session in one request.
func (a *Asker) Window() int { return a.s.opts.Window }

// Ask sends a question and returns the text of the answer, unchecked. most is the limit of the answer in tokens.
func (a *Asker) Ask(ctx context.Context, system, prompt string, schema json.RawMessage, most int) (string, error) {
	answer, err := a.s.ask(ctx, a.question(system, prompt, schema, most))
	return answer.Text, err
}

// EstimateCost returns the maximum cost of a question without asking it.
func (a *Asker) EstimateCost(system, prompt string, schema json.RawMessage, most int) Usage {
	return a.s.maxUsage(questionTokens(a.question(system, prompt, schema, most)), most)
}

func (a *Asker) question(system, prompt string, schema json.RawMessage, most int) Question {
	return newQuestion(a.ID(), system, prompt, schema, most)
}

// Exchanges returns the questions and answers in order.
func (a *Asker) Exchanges() []Exchange { return a.s.exchanges }

// Receipt returns the usage so far.
func (a *Asker) Receipt() Receipt { return a.s.receipt }
