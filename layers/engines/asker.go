package engines

import (
	"context"
	"encoding/json"
	"strings"
)

// An Asker puts questions of any kind to a model, under the same meter as a [Summarizer], and keeps what was asked and
// answered. It is for one piece of work and not safe for goroutines.
type Asker struct{ s *Summarizer }

// NewAsker returns what asks m.
func NewAsker(m Model, o Options) *Asker { return &Asker{New(m, o)} }

// Metered returns the same asker, unused, with another meter.
func (a *Asker) Metered(m Meter) *Asker { return &Asker{a.s.Metered(m)} }

// ID names the engine and its model.
func (a *Asker) ID() string { return a.s.model.ID() }

// Window is how many tokens of a session the model is shown at once.
func (a *Asker) Window() int { return a.s.opts.Window }

// Ask puts a question and returns the text of the answer, which nothing has checked.
func (a *Asker) Ask(ctx context.Context, system, prompt string, schema json.RawMessage, most int) (string, error) {
	answer, err := a.s.ask(ctx, a.question(system, prompt, schema, most))
	return answer.Text, err
}

// Foresee returns the maximum cost of a question without asking it.
func (a *Asker) Foresee(system, prompt string, schema json.RawMessage, most int) Usage {
	q := a.question(system, prompt, schema, most)
	n := length(q)
	return Usage{n, most, a.s.opts.Price.Cost(n, most)}
}

func (a *Asker) question(system, prompt string, schema json.RawMessage, most int) Question {
	return Question{
		Format: questionFormat, Engine: a.s.model.ID(), System: system, Prompt: strings.ToValidUTF8(prompt, "\uFFFD"),
		Schema:    schema,
		MaxTokens: most, MaxMicros: -1,
	}
}

// Exchanges returns what was asked and answered, in order.
func (a *Asker) Exchanges() []Exchange { return a.s.exchanges }

// Receipt returns what it has taken so far.
func (a *Asker) Receipt() Receipt { return a.s.receipt }
