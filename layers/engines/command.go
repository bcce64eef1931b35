package engines

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/objects"
)

// Command is a model behind an arbitrary program, which reads the question as one JSON object in its stored form and
// writes the answer: the requested object, or one around it:
//
//	{"text": "...", "model": "...", "usage": {"input_tokens": 1, "output_tokens": 1, "usd_micros": 0}}
//
// where text is the answer as a string, and the other members are optional.
type Command struct {
	Program Program
	Model   string // sent to the program in the question
	Timeout time.Duration
}

// ID returns the name of the engine and the model.
func (c *Command) ID() string {
	if c.Model == "" {
		return "command"
	}
	return "command " + c.Model
}

// Ask runs the program once.
func (c *Command) Ask(ctx context.Context, q Question) (Answer, error) {
	return withTimeout(ctx, c.Timeout, func(ctx context.Context) (Answer, error) {
		in, err := objects.JSONLine(q)
		if err != nil {
			return Answer{}, fmt.Errorf("ask a program: %w", err)
		}
		out, err := c.Program.run(ctx, in)
		if err != nil {
			return Answer{}, err
		}
		a := readOutput(out)
		if a.Model == "" {
			a.Model = c.Model
		}
		return estimateUsage(a, q), nil
	})
}

// readOutput parses the output of a program.
func readOutput(out []byte) Answer {
	var v struct {
		Text  *string `json:"text"`
		Model string  `json:"model"`
		Usage Usage   `json:"usage"`
	}
	if json.Unmarshal(out, &v) != nil || v.Text == nil {
		return Answer{Text: string(out)}
	}
	return Answer{Text: *v.Text, Model: v.Model, Usage: v.Usage.clamp()}
}

// estimateUsage fills in the usage of an answer without numbers.
func estimateUsage(a Answer, q Question) Answer {
	if a.Usage.Input == 0 {
		a.Usage.Input = questionTokens(q)
	}
	if a.Usage.Output == 0 {
		a.Usage.Output = tokens.For("").Count(a.Text)
	}
	return a
}
