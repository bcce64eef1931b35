//go:build e2e

package main_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A messagesAPI answers as the Messages API does, with one text for every request, and keeps what it
// was asked.
type messagesAPI struct {
	url    string
	answer string

	mu       sync.Mutex
	turns    [][]block // what the next requests with tools are answered with, instead of answer
	requests []apiRequest
	others   []string // requests that are none of the Messages API's
}

// A block is a piece of an answer: a text, or a call of a tool.
type block struct {
	text string
	tool string
	in   map[string]any

	to     string                                // the first of a turn: what the last words of its request contain
	within func(body string) (in map[string]any) // makes in from the request
	tokens int                                   // the first of a turn: the size of the request as the API says it
}

// script sets the answers to the next requests of the conversation.
func (a *messagesAPI) script(turns ...[]block) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.turns = turns
}

// turn returns the answer to a request.
func (a *messagesAPI) turn(req apiRequest) []block {
	if len(req.Tools) == 0 || len(a.turns) == 0 || req.compacts() {
		return []block{{text: a.answer}}
	}
	last := lastUser(req)
	i := slices.IndexFunc(a.turns, func(turn []block) bool { return strings.Contains(last, turn[0].to) })
	if i < 0 {
		return []block{{text: a.answer}}
	}
	next := a.turns[i]
	a.turns = slices.Delete(a.turns, i, i+1)
	return next
}

// compacts reports whether a request asks for the summary of a conversation.
func (r apiRequest) compacts() bool {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if r.Messages[i].Role == "user" {
			return strings.Contains(r.Messages[i].text(), "detailed summary of")
		}
	}
	return false
}

// text returns all text of a message.
func (m apiMessage) text() string {
	var b strings.Builder
	for _, c := range m.Content {
		b.WriteString(c.Text + "\n")
	}
	return b.String()
}

// An apiRequest is the part of a request that the rules are about.
type apiRequest struct {
	Model    string            `json:"model"`
	Stream   bool              `json:"stream"`
	Tools    []json.RawMessage `json:"tools"`
	Messages []apiMessage      `json:"messages"`

	body string // the whole request, for texts that are in no message
}

type apiMessage struct {
	Role    string    `json:"role"`
	Content apiBlocks `json:"content"`
}

// apiBlocks are content blocks; a bare string is read as one text block.
type apiBlocks []apiBlock

type apiBlock struct {
	Type      string    `json:"type"`
	Text      string    `json:"text"`
	ID        string    `json:"id"`
	ToolUseID string    `json:"tool_use_id"`
	Signature string    `json:"signature"`
	IsError   bool      `json:"is_error"`
	Content   apiBlocks `json:"content"` // of a result
}

func (b *apiBlocks) UnmarshalJSON(raw []byte) error {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		*b = apiBlocks{{Type: "text", Text: s}}
		return nil
	}
	return json.Unmarshal(raw, (*[]apiBlock)(b))
}

// serveMessages starts an API on the loopback interface until the test ends.
func serveMessages(t *testing.T, answer string) *messagesAPI {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	api := &messagesAPI{url: "http://" + l.Addr().String(), answer: answer}
	srv := &http.Server{Handler: api}
	go srv.Serve(l)                   // ends with ErrServerClosed when the test does
	t.Cleanup(func() { srv.Close() }) // nothing to do about an error at the end
	return api
}

func (a *messagesAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var req apiRequest
	if err == nil && r.Method == http.MethodPost && r.URL.Path == "/v1/messages" {
		err = json.Unmarshal(body, &req)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case err != nil:
		a.others = append(a.others, fmt.Sprintf("%s %s: %v", r.Method, r.URL.Path, err))
		http.Error(w, `{"type":"error","error":{"type":"invalid_request_error","message":"mock"}}`, http.StatusBadRequest)
	case r.Method == http.MethodPost && r.URL.Path == "/v1/messages/count_tokens":
		fmt.Fprintf(w, `{"input_tokens":%d}`, len(body)/4)
	case r.Method == http.MethodPost && r.URL.Path == "/v1/messages":
		req.body = string(body)
		a.requests = append(a.requests, req)
		a.reply(w, req, len(body)/4)
	default:
		a.others = append(a.others, r.Method+" "+r.URL.Path)
		http.Error(w, `{"type":"error","error":{"type":"not_found_error","message":"mock"}}`, http.StatusNotFound)
	}
}

// asked returns the requests so far.
func (a *messagesAPI) asked() []apiRequest {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]apiRequest(nil), a.requests...)
}

// reply sends the answer, as a stream if that was asked for.
func (a *messagesAPI) reply(w http.ResponseWriter, req apiRequest, tokens int) {
	type object = map[string]any
	turn := a.turn(req)
	if turn[0].tokens > 0 {
		tokens = turn[0].tokens
	}
	usage := object{"input_tokens": tokens, "output_tokens": 5, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
	var content []object
	stop, n := "end_turn", len(a.requests)
	for i, b := range turn {
		if b.within != nil {
			b.in = b.within(req.body)
		}
		if b.tool == "" {
			content = append(content, object{"type": "text", "text": b.text})
			continue
		}
		stop = "tool_use"
		content = append(content, object{"type": "tool_use", "id": fmt.Sprintf("toolu_%018d%06d", n, i), "name": b.tool, "input": b.in})
	}
	message := object{"id": fmt.Sprintf("msg_%024d", n), "type": "message", "role": "assistant", "model": req.Model,
		"content": content, "stop_reason": stop, "stop_sequence": nil, "usage": usage}
	if !req.Stream {
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(message) // the client sees what went wrong
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	message["content"], message["stop_reason"] = []object{}, nil
	events := []object{{"type": "message_start", "message": message}}
	for i, c := range content {
		start, delta := object{"type": "text", "text": ""}, object{"type": "text_delta", "text": c["text"]}
		if c["type"] == "tool_use" {
			in, err := json.Marshal(c["input"])
			if err != nil {
				panic(err) // as below
			}
			start = object{"type": "tool_use", "id": c["id"], "name": c["name"], "input": object{}}
			delta = object{"type": "input_json_delta", "partial_json": string(in)}
		}
		events = append(events, object{"type": "content_block_start", "index": i, "content_block": start},
			object{"type": "content_block_delta", "index": i, "delta": delta}, object{"type": "content_block_stop", "index": i})
	}
	events = append(events, object{"type": "message_delta", "delta": object{"stop_reason": stop, "stop_sequence": nil}, "usage": usage}, object{"type": "message_stop"})
	for _, event := range events {
		b, err := json.Marshal(event)
		if err != nil {
			panic(err) // maps of strings and numbers always encode
		}
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event["type"], b)
	}
}

// broken returns the rules of the Messages API that messages break. Messages of the role system, which
// newer clients put between the others, do not take part in the conversation.
func broken(messages []apiMessage) (rules []string) {
	var open map[string]bool // calls that the next message must answer
	role, n := "", 0
	for i, m := range messages {
		if m.Role == "system" {
			continue
		}
		if n++; n == 1 && m.Role != "user" {
			rules = append(rules, "the first message is not the user's")
		}
		if len(m.Content) == 0 {
			rules = append(rules, fmt.Sprintf("message %d has no content", i))
		}
		calls, answers := map[string]bool{}, map[string]bool{}
		for _, b := range m.Content {
			switch {
			case b.Type == "text" && strings.TrimSpace(b.Text) == "":
				rules = append(rules, fmt.Sprintf("message %d has an empty text", i))
			case b.Type == "thinking" && b.Signature == "":
				rules = append(rules, fmt.Sprintf("message %d has unsigned thinking", i))
			case b.Type == "tool_use":
				calls[b.ID] = true
			case b.Type == "tool_result":
				answers[b.ToolUseID] = true
				if !open[b.ToolUseID] {
					rules = append(rules, fmt.Sprintf("message %d answers no call", i))
				}
			}
		}
		for id := range open {
			if !answers[id] {
				rules = append(rules, fmt.Sprintf("message %d leaves a call open", i))
			}
		}
		open, role = calls, m.Role
	}
	if role != "user" {
		rules = append(rules, "the last message is not the user's")
	}
	return rules
}

func TestE2EMockKnowsTheRules(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, messages, want string }{
		{"good", `[{"role":"user","content":"a"},{"role":"system","content":[]},{"role":"assistant","content":[{"type":"tool_use","id":"t"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t"}]}]`, ""},
		{"nothing", `[]`, "the last message is not the user's"},
		{"assistant first", `[{"role":"assistant","content":"a"},{"role":"user","content":"a"}]`, "the first message is not the user's"},
		{"empty text", `[{"role":"user","content":" \n"}]`, "message 0 has an empty text"},
		{"no content", `[{"role":"user","content":[]}]`, "message 0 has no content"},
		{"unsigned", `[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"thinking"}]},{"role":"user","content":"a"}]`, "message 1 has unsigned thinking"},
		{"open call", `[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"t"}]},{"role":"user","content":"a"}]`, "message 2 leaves a call open"},
		{"orphan result", `[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t"}]}]`, "message 0 answers no call"},
	} {
		var messages []apiMessage
		if err := json.Unmarshal([]byte(tt.messages), &messages); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(broken(messages), "; "); got != tt.want {
			t.Errorf("%s: broken = %q, want %q", tt.name, got, tt.want)
		}
	}
}
