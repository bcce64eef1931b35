package engines

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/memvcs/mem/layers/answers"
	"github.com/memvcs/mem/objects"
)

// Anthropic is a model behind the Messages API.
type Anthropic struct {
	Server *Server
	Model  string // full name, such as claude-sonnet-5-5

	noSchema bool // the server does not support schemas
}

// ID returns the name of the engine and the model.
func (a *Anthropic) ID() string { return "anthropic " + a.Model }

func (a *Anthropic) request(q Question) objects.Object {
	r := objects.Object{"model", a.Model, "max_tokens", q.MaxTokens, "system", q.System,
		"messages", []objects.Object{chatMessage("user", q.Prompt)}}
	if !a.noSchema {
		r = append(r, "output_config", objects.Object{"format", objects.Object{"type", "json_schema", "schema", q.Schema}})
	}
	return append(r, "stream", true)
}

func chatMessage(role, content string) objects.Object {
	return objects.Object{"role", role, "content", content}
}

func (a *Anthropic) header() http.Header {
	h := http.Header{"Anthropic-Version": {"2023-06-01"}}
	if a.Server.key != "" {
		h.Set("X-Api-Key", a.Server.key)
	}
	return h
}

// Ask sends the question and reads the streamed answer.
func (a *Anthropic) Ask(ctx context.Context, q Question) (Answer, error) {
	return a.Server.retry(ctx, func(ctx context.Context) (Answer, error) {
		resp, err := a.Server.post(ctx, "/v1/messages", a.header(), a.request(q))
		if rejects(err, "output_config", "output_format", "json_schema", "structured") && !a.noSchema {
			a.noSchema = true
			return Answer{}, &temporary{err, 0}
		}
		if err != nil {
			return Answer{}, err
		}
		defer resp.Body.Close()
		return readMessage(resp.Body)
	})
}

// rejects reports whether a server rejected a request because of one of the fields.
func rejects(err error, names ...string) bool {
	e, ok := err.(*statusError)
	if !ok || e.Code != http.StatusBadRequest && e.Code != http.StatusUnprocessableEntity {
		return false
	}
	for _, n := range names {
		if strings.Contains(e.Message, n) {
			return true
		}
	}
	return false
}

// messageEvent is the union of the events of an answer.
type messageEvent struct {
	Type    string `json:"type"`
	Message struct {
		Model string        `json:"model"`
		Usage messagesUsage `json:"usage"`
	} `json:"message"`
	Delta struct {
		Type string `json:"type"`
		Text string `json:"text"`
		Stop string `json:"stop_reason"`
	} `json:"delta"`
	Usage messagesUsage `json:"usage"`
	Error struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
}

type messagesUsage struct {
	Input   int `json:"input_tokens"`
	Created int `json:"cache_creation_input_tokens"`
	Read    int `json:"cache_read_input_tokens"`
	Output  int `json:"output_tokens"`
}

// addTo updates the usage of an answer. The numbers are totals, so a later event replaces an earlier one.
func (u messagesUsage) addTo(a *Answer) {
	if in := min(u.Input, maxTokens) + min(u.Created, maxTokens) + min(u.Read, maxTokens); in > 0 {
		a.Usage.Input = in
	}
	a.Usage.Output = max(a.Usage.Output, u.Output)
}

// readMessage assembles an answer from its events. The part before an error is returned with it.
func readMessage(r io.Reader) (a Answer, err error) {
	var text strings.Builder
	defer func() { a.Text = text.String() }()
	for ev, err := range events(r) {
		if err != nil {
			return a, interrupted(err)
		}
		var m messageEvent
		if err := json.Unmarshal([]byte(ev.data), &m); err != nil {
			return a, interrupted(fmt.Errorf("event %s: %w", answers.Printable(ev.name), err))
		}
		switch m.Type {
		case "message_start":
			a.Model = m.Message.Model
			m.Message.Usage.addTo(&a)
		case "content_block_delta":
			if m.Delta.Type == "text_delta" {
				text.WriteString(m.Delta.Text)
			}
		case "message_delta":
			a.Stop = m.Delta.Stop
			m.Usage.addTo(&a)
		case "message_stop":
			return a, nil
		case "error":
			return a, streamError(m.Error.Type, m.Error.Message)
		}
	}
	return a, interrupted(nil)
}

// streamError converts an error event in a stream.
func streamError(kind, text string) error {
	err := fmt.Errorf("the server interrupted the answer: %s: %s", answers.Printable(kind), oneLine(text))
	switch kind {
	case "authentication_error", "permission_error":
		return fmt.Errorf("%w: %w", ErrAuth, err)
	case "invalid_request_error", "not_found_error", "billing_error":
		return err
	}
	return &temporary{err, -1}
}
