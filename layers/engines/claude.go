package engines

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/memvcs/mem/layers/answers"
)

// Claude is a model behind the user's own client: it runs "claude -p" without tools, customizations, hooks and session
// record, in an empty directory, with the question on standard input.
type Claude struct {
	Program Program // the client; Dir is ignored
	Model   string  // a name or an alias, such as opus
	Temp    string  // parent of the empty directories; "" is the system's default
	Timeout time.Duration
}

// ID returns the name of the engine and the model.
func (c *Claude) ID() string { return "claude " + c.Model }

// arguments returns the command line for a question.
func (c *Claude) arguments(q Question) []string {
	args := []string{"-p", "--safe-mode", "--tools", "", "--no-session-persistence", "--output-format", "json",
		"--model", c.Model, "--json-schema", string(q.Schema), "--system-prompt", q.System}
	if q.MaxMicros >= 0 {
		args = append(args, "--max-budget-usd", decimal(max(q.MaxMicros, 1)))
	}
	return args
}

// Ask runs the client once.
func (c *Claude) Ask(ctx context.Context, q Question) (Answer, error) {
	return withTimeout(ctx, c.Timeout, func(ctx context.Context) (Answer, error) {
		dir, err := os.MkdirTemp(c.Temp, "mem-claude-")
		if err != nil {
			return Answer{}, fmt.Errorf("make a directory for claude: %w", err)
		}
		defer os.RemoveAll(dir) // an error leaves only an empty directory
		p := c.Program
		p.Dir = dir
		p.Settings = append(slices.Clone(p.Settings), "MEM_HOOK=off") // its session must not be captured
		out, err := p.run(ctx, []byte(q.Prompt), c.arguments(q)...)
		var exit *ExitError
		switch {
		case ctx.Err() != nil:
			return Answer{}, err
		case errors.As(err, &exit) && strings.Contains(exit.Message, "unknown option"):
			return Answer{}, fmt.Errorf("%w: the client is too old: %w", ErrSetup, err)
		}
		a, errResult := readResult(out)
		if a.Model == "" {
			a.Model = c.Model
		}
		if err != nil && errors.Is(errResult, errNoResult) {
			return a, err // it says more
		}
		return a, errResult
	})
}

// result is the output of the client.
type result struct {
	Type       string          `json:"type"`
	Subtype    string          `json:"subtype"`
	IsError    bool            `json:"is_error"`
	Result     string          `json:"result"`
	Structured json.RawMessage `json:"structured_output"`
	Stop       string          `json:"stop_reason"`
	Cost       float64         `json:"total_cost_usd"`
	Usage      messagesUsage   `json:"usage"`
	Models     map[string]struct {
		Output int `json:"outputTokens"`
	} `json:"modelUsage"`
	Errors []string `json:"errors"`
}

var errNoResult = errors.New("the output of claude is not a result")

// readResult parses the output of the client.
func readResult(out []byte) (Answer, error) {
	var r result
	if err := json.Unmarshal(out, &r); err != nil || r.Type != "result" {
		return Answer{}, fmt.Errorf("%w: %s", errNoResult, quote(string(out)))
	}
	a := Answer{Text: r.Result, Stop: r.Stop}
	r.Usage.addTo(&a)
	if r.Cost > 0 && r.Cost < 1e6 {
		a.Usage.Micros = int64(math.Ceil(r.Cost * 1e6))
	}
	if len(r.Models) == 1 {
		for name := range r.Models {
			a.Model = name
		}
	}
	if s := string(r.Structured); s != "" && s != "null" {
		a.Text = s
	}
	if !r.IsError && r.Subtype == "success" {
		return a, nil
	}
	text := oneLine(strings.Join(append([]string{r.Result}, r.Errors...), " "))
	err := fmt.Errorf("claude failed with %s: %s", answers.Printable(r.Subtype), text)
	switch {
	case strings.Contains(r.Subtype, "budget"):
		return a, fmt.Errorf("%w: %w", ErrCap, err)
	case strings.Contains(text, "API key") || strings.Contains(text, "/login") || strings.Contains(text, "authenticat"):
		return a, fmt.Errorf("%w: %w", ErrAuth, err)
	case strings.Contains(r.Subtype, "structured_output"): // the answer does not match the schema
		return a, nil
	}
	return a, err
}
