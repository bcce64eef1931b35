package engines

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/memvcs/mem/objects"
)

// OpenAI is a model behind the chat completions API, which Ollama, vLLM, LM Studio and others support.
type OpenAI struct {
	Server *Server // its URL usually ends in /v1
	Model  string

	dialect dialect
}

// A dialect records the features that a server lacks.
type dialect struct {
	noSchema  bool // response_format
	noUsage   bool // stream_options
	newLength bool // max_tokens is called max_completion_tokens
}

// ID returns the name of the engine and the model.
func (o *OpenAI) ID() string { return "openai " + o.Model }

func (o *OpenAI) request(q Question) objects.Object {
	length := "max_tokens,omitempty"
	if o.dialect.newLength {
		length = "max_completion_tokens,omitempty"
	}
	r := objects.Object{"model", o.Model, "messages", []objects.Object{chatMessage("system", q.System), chatMessage("user", q.Prompt)},
		length, q.MaxTokens}
	if !o.dialect.noSchema {
		r = append(r, "response_format", objects.Object{"type", "json_schema",
			"json_schema", objects.Object{"name", "summary", "strict", true, "schema", q.Schema}})
	}
	if !o.dialect.noUsage {
		r = append(r, "stream_options", objects.Object{"include_usage", true})
	}
	return append(r, "stream", true)
}

// Ask sends the question and reads the streamed answer. If the server rejects a part of the request, the request is
// repeated without it.
func (o *OpenAI) Ask(ctx context.Context, q Question) (Answer, error) {
	return o.Server.retry(ctx, func(ctx context.Context) (Answer, error) {
		h := http.Header{}
		if o.Server.key != "" {
			h.Set("Authorization", "Bearer "+o.Server.key)
		}
		resp, err := o.Server.post(ctx, "/chat/completions", h, o.request(q))
		if o.learn(err) {
			return Answer{}, &temporary{err, 0}
		}
		if err != nil {
			return Answer{}, err
		}
		defer resp.Body.Close()
		a, err := readChat(resp)
		if a.Model == "" {
			a.Model = o.Model
		}
		return estimateUsage(a, q), err
	})
}

// learn updates the dialect from an error and reports whether it changed.
func (o *OpenAI) learn(err error) bool {
	was := o.dialect
	switch {
	case rejects(err, "max_completion_tokens"):
		o.dialect.newLength = true
	case rejects(err, "response_format", "json_schema"):
		o.dialect.noSchema = true
	case rejects(err, "stream_options"):
		o.dialect.noUsage = true
	}
	return o.dialect != was
}

// chatChunk is a part of an answer, or the whole answer of a server that does not stream.
type chatChunk struct {
	Model   string `json:"model"`
	Choices []struct {
		Delta   chatText `json:"delta"`
		Message chatText `json:"message"`
		Finish  string   `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		Input  int `json:"prompt_tokens"`
		Output int `json:"completion_tokens"`
	} `json:"usage"`
	Error json.RawMessage `json:"error"`
}

type chatText struct {
	Content string `json:"content"`
}

// readChat assembles an answer from its chunks. The part before an error is returned with it.
func readChat(resp *http.Response) (a Answer, err error) {
	var text strings.Builder
	defer func() { a.Text = text.String() }()
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			return a, interrupted(err)
		}
		return a, addChunk(&a, &text, b)
	}
	for ev, err := range events(resp.Body) {
		if err != nil {
			return a, interrupted(err)
		}
		if ev.data == "[DONE]" {
			return a, nil
		}
		if err := addChunk(&a, &text, []byte(ev.data)); err != nil {
			return a, err
		}
	}
	if a.Stop != "" { // some servers omit the last line
		return a, nil
	}
	return a, interrupted(nil)
}

func addChunk(a *Answer, text *strings.Builder, b []byte) error {
	var c chatChunk
	if err := json.Unmarshal(b, &c); err != nil {
		return interrupted(fmt.Errorf("a chunk is not JSON: %w", err))
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return &temporary{fmt.Errorf("the server interrupted the answer: %s", errorMessage(b)), -1}
	}
	if c.Model != "" {
		a.Model = c.Model
	}
	if len(c.Choices) > 0 {
		text.WriteString(c.Choices[0].Delta.Content + c.Choices[0].Message.Content)
		if f := c.Choices[0].Finish; f != "" {
			a.Stop = f
		}
	}
	if c.Usage != nil {
		a.Usage.Input, a.Usage.Output = max(a.Usage.Input, c.Usage.Input), max(a.Usage.Output, c.Usage.Output)
	}
	return nil
}
