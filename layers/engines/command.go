package engines

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/memvcs/mem/layers/tokens"
)

// Command asks any program: it reads the question as one JSON object, as it is stored, and writes the answer. That is
// either the object that was asked for, or one around it:
//
//	{"text": "...", "model": "...", "usage": {"input_tokens": 1, "output_tokens": 1, "usd_micros": 0}}
//
// where text is the answer as a string, and all but text may be left out.
type Command struct {
	Program Program
	Model   string // told to the program in the question, otherwise for people
	Timeout time.Duration
}

// ID names the engine and its model.
func (c *Command) ID() string {
	if c.Model == "" {
		return "command"
	}
	return "command " + c.Model
}

// Ask runs the program once.
func (c *Command) Ask(ctx context.Context, q Question) (Answer, error) {
	return inTime(ctx, c.Timeout, func(ctx context.Context) (Answer, error) {
		in, err := compact(q)
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
		return counted(a, q), nil
	})
}

// readOutput reads what a program wrote.
func readOutput(out []byte) Answer {
	var v struct {
		Text  *string `json:"text"`
		Model string  `json:"model"`
		Usage Usage   `json:"usage"`
	}
	if json.Unmarshal(out, &v) != nil || v.Text == nil {
		return Answer{Text: string(out)}
	}
	u := v.Usage
	return Answer{Text: *v.Text, Model: v.Model, Usage: Usage{max(u.Input, 0), max(u.Output, 0), max(u.Micros, 0)}}
}

// counted estimates the usage of an answer that does not tell it.
func counted(a Answer, q Question) Answer {
	if a.Usage.Input == 0 {
		a.Usage.Input = length(q)
	}
	if a.Usage.Output == 0 {
		a.Usage.Output = tokens.For("").Count(a.Text)
	}
	return a
}
