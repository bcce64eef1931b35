package engines

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// An api is a server whose answers are given one after the other, the last one for ever.
type api struct {
	*httptest.Server
	mu     sync.Mutex
	steps  []http.HandlerFunc
	bodies []map[string]any
	heads  []http.Header
}

func serve(t *testing.T, steps ...http.HandlerFunc) *api {
	t.Helper()
	a := &api{steps: steps}
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		var v map[string]any
		if err != nil || json.Unmarshal(b, &v) != nil || r.Method != http.MethodPost {
			http.Error(w, "bad request", 400)
			return
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		step := a.steps[min(len(a.bodies), len(a.steps)-1)]
		a.bodies, a.heads = append(a.bodies, v), append(a.heads, r.Header.Clone())
		step(w, r)
	}))
	t.Cleanup(a.Close)
	return a
}

// server is how an engine sees the api. It waits for nobody and notes how long it would have.
func (a *api) server(waits *[]time.Duration) *Server {
	return &Server{
		URL: a.URL, Key: func(context.Context) (string, error) { return "sk-secret", nil }, Timeout: 30 * time.Second,
		Sleep: func(_ context.Context, d time.Duration) error {
			if waits != nil {
				*waits = append(*waits, d)
			}
			return nil
		},
	}
}

// sse writes events as the Messages API does.
func sse(w http.ResponseWriter, events ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range events {
		var v struct {
			Type string `json:"type"`
		}
		if json.Unmarshal([]byte(e), &v) == nil && v.Type != "" {
			fmt.Fprintf(w, "event: %s\n", v.Type)
		}
		fmt.Fprintf(w, "data: %s\n\n", e)
		w.(http.Flusher).Flush()
	}
}

func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // only strings and numbers
	}
	return string(b)
}

// message answers with a text in two pieces.
func messages(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		sse(w,
			`{"type":"message_start","message":{"model":"claude-test-1","usage":{"input_tokens":900,"cache_read_input_tokens":100,"output_tokens":1}}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
			`{"type":"ping"}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":`+asJSON(text[:len(text)/2])+`}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":`+asJSON(text[len(text)/2:])+`}}`,
			`{"type":"content_block_stop","index":0}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":77}}`,
			`{"type":"message_stop"}`)
	}
}

// chat answers as the chat completions API does.
func chat(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		sse(w,
			`{"model":"local-1","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}`,
			`{"model":"local-1","choices":[{"index":0,"delta":{"content":`+asJSON(text[:len(text)/2])+`},"finish_reason":null}]}`,
			`{"model":"local-1","choices":[{"index":0,"delta":{"content":`+asJSON(text[len(text)/2:])+`},"finish_reason":null}]}`,
			`{"model":"local-1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":null}`,
			`{"model":"local-1","choices":[],"usage":{"prompt_tokens":1000,"completion_tokens":77}}`,
			`[DONE]`)
	}
}

func failing(code int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
		fmt.Fprint(w, body)
	}
}

// hang sends the start of an answer and then nothing.
func hang(w http.ResponseWriter, r *http.Request) {
	sse(w, `{"type":"message_start","message":{"model":"claude-test-1","usage":{"input_tokens":900}}}`, `{"choices":[{"delta":{"content":"{"}}]}`)
	<-r.Context().Done()
}

// breakOff ends the stream in the middle.
func breakOff(w http.ResponseWriter, _ *http.Request) {
	text := asJSON(strings.Repeat("word ", 100))
	sse(w,
		`{"type":"message_start","message":{"model":"claude-test-1","usage":{"input_tokens":900,"output_tokens":1}}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":`+text+`},`+
			`"choices":[{"delta":{"content":`+text+`}}]}`)
}

// cutConnection sends less than it promised.
func cutConnection(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "1000")
	fmt.Fprint(w, "data: {")
	panic(http.ErrAbortHandler)
}

// both runs a test with both wire formats.
func both(t *testing.T, f func(t *testing.T, model func(*Server) Model, answer func(string) http.HandlerFunc)) {
	t.Run("anthropic", func(t *testing.T) {
		t.Parallel()
		f(t, func(s *Server) Model { return &Anthropic{Server: s, Model: "claude-test"} }, messages)
	})
	t.Run("openai", func(t *testing.T) {
		t.Parallel()
		f(t, func(s *Server) Model { return &OpenAI{Server: s, Model: "local"} }, chat)
	})
}

func ask() Question {
	return NewAsker(says(""), Options{}).question(summaryForm(window{items: talk()}, 100, 1))
}

func TestHTTPAnswer(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, model func(*Server) Model, answer func(string) http.HandlerFunc) {
		srv := serve(t, answer(good))
		s := New(model(srv.server(nil)), Options{Price: Price{3e6, 15e6}, Meter: &purse{cap: 1 << 40, left: -1}})
		if segs := summarize(t, s, request(400)); len(segs) != 3 {
			t.Errorf("%d segments", len(segs))
		}
		if u := s.Receipt().Usage; u != (Usage{2000, 2 * 77, 2 * (3000 + 15*77)}) {
			t.Errorf("usage %+v", u)
		}
		body := srv.bodies[0]
		if body["stream"] != true || body["max_tokens"] == nil {
			t.Errorf("body %v", body)
		}
		schema := asJSON([]any{body["output_config"], body["response_format"]})
		if !strings.Contains(schema, `"json_schema"`) || !strings.Contains(schema, `"additionalProperties":false`) {
			t.Errorf("schema %s", schema)
		}
		h := srv.heads[0]
		if h.Get("X-Api-Key") != "sk-secret" && h.Get("Authorization") != "Bearer sk-secret" {
			t.Errorf("header %v", h)
		}
	})
}

func TestTriedAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		steps []http.HandlerFunc
		waits string
	}{
		"429":             {[]http.HandlerFunc{failing(429, "{}", "Retry-After", "7")}, "[7s]"},
		"529 twice":       {[]http.HandlerFunc{failing(529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, "Retry-After", "1"), failing(529, "", "Retry-After", "2")}, "[1s 2s]"},
		"503 with a date": {[]http.HandlerFunc{failing(503, "<html>", "Retry-After", "Sat, 21 Nov 2026 10:00:12 GMT")}, "[1s]"},
		"500":             {[]http.HandlerFunc{failing(500, "oops"), failing(502, ""), failing(504, "")}, "[1s 2s 4s]"},
		"breaks off":      {[]http.HandlerFunc{breakOff}, "[1s]"},
		"cut":             {[]http.HandlerFunc{cutConnection}, "[1s]"},
		"bad json":        {[]http.HandlerFunc{func(w http.ResponseWriter, _ *http.Request) { sse(w, `{"type":`) }}, "[1s]"},
		"empty":           {[]http.HandlerFunc{func(http.ResponseWriter, *http.Request) {}}, "[1s]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			both(t, func(t *testing.T, model func(*Server) Model, answer func(string) http.HandlerFunc) {
				var waits []time.Duration
				srv := serve(t, append(slices.Clone(c.steps), answer(good))...)
				a, err := model(srv.server(&waits)).Ask(context.Background(), ask())
				if err != nil || a.Text != good {
					t.Fatalf("%q, %v", a.Text, err)
				}
				if fmt.Sprint(waits) != c.waits {
					t.Errorf("waited %v, want %s", waits, c.waits)
				}
				if name == "breaks off" && (a.Usage.Input <= 1000 || a.Usage.Output < 77+100) {
					t.Errorf("the broken answer is not in the usage: %+v", a.Usage)
				}
			})
		})
	}
}

func TestOverloadedInTheStream(t *testing.T) {
	t.Parallel()
	srv := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		sse(w, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`)
	}, messages(good))
	a := &Anthropic{Server: srv.server(nil), Model: "m"}
	if got, err := a.Ask(context.Background(), ask()); err != nil || got.Text != good {
		t.Errorf("%+v, %v", got, err)
	}
	srv = serve(t, func(w http.ResponseWriter, _ *http.Request) {
		sse(w, `{"error":{"message":"out of memory"}}`)
	}, chat(good))
	o := &OpenAI{Server: srv.server(nil), Model: "m"}
	if got, err := o.Ask(context.Background(), ask()); err != nil || got.Text != good {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestFinalFailures(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		step  http.HandlerFunc
		tries int
		is    error
		says  string
	}{
		"401":           {failing(401, `{"error":{"message":"invalid x-api-key sk-secret"}}`), 1, ErrAuth, "invalid x-api-key [key]"},
		"403":           {failing(403, ""), 1, ErrAuth, "403 Forbidden"},
		"400":           {failing(400, `{"error":{"message":"prompt is too long"}}`), 1, nil, "400 Bad Request: prompt is too long"},
		"404":           {failing(404, `{"error":"model 'local' not found"}`), 1, nil, "model 'local' not found"},
		"redirect":      {failing(302, "", "Location", "http://127.0.0.1:1/"), 1, nil, "302"},
		"429 for ever":  {failing(429, `{"error":{"message":"slow\ndown"}}`), maxTries, nil, "429 Too Many Requests: slow down (tried 5 times)"},
		"wait too long": {failing(429, "", "Retry-After", "3600"), 1, nil, "tried 1 times"},
		"long line":     {func(w http.ResponseWriter, _ *http.Request) { sse(w, strings.Repeat("x", maxLine+1)) }, 1, errStream, "longer than"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			both(t, func(t *testing.T, model func(*Server) Model, _ func(string) http.HandlerFunc) {
				srv := serve(t, c.step)
				_, err := model(srv.server(nil)).Ask(context.Background(), ask())
				if err == nil || !strings.Contains(err.Error(), c.says) || c.is != nil && !errors.Is(err, c.is) || strings.Contains(err.Error(), "secret") {
					t.Errorf("got %v, want %s", err, c.says)
				}
				if len(srv.bodies) != c.tries {
					t.Errorf("tried %d times, want %d", len(srv.bodies), c.tries)
				}
			})
		})
	}
}

func TestHang(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, model func(*Server) Model, _ func(string) http.HandlerFunc) {
		srv := serve(t, hang)
		s := srv.server(nil)
		s.Timeout = 100 * time.Millisecond
		if _, err := model(s).Ask(context.Background(), ask()); !errors.Is(err, ErrTimeout) {
			t.Errorf("got %v, want ErrTimeout", err)
		}
		s = srv.server(nil)
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(50*time.Millisecond, cancel)
		if _, err := model(s).Ask(ctx, ask()); !errors.Is(err, context.Canceled) || errors.Is(err, ErrTimeout) {
			t.Errorf("got %v, want Canceled", err)
		}
	})
}

// A server is asked again without what it does not know, and not asked for it any more.
func TestDialects(t *testing.T) {
	t.Parallel()
	bad := func(text string) http.HandlerFunc {
		return failing(400, `{"error":{"message":`+asJSON(text)+`}}`)
	}
	srv := serve(t, bad("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."), bad("unknown field stream_options"),
		bad("response_format is not supported"), chat(good))
	o := &OpenAI{Server: srv.server(nil), Model: "m"}
	for range 2 {
		if a, err := o.Ask(context.Background(), ask()); err != nil || a.Text != good {
			t.Fatalf("%+v, %v", a, err)
		}
	}
	last := srv.bodies[len(srv.bodies)-1]
	if len(srv.bodies) != 5 || last["max_tokens"] != nil || last["max_completion_tokens"] == nil || last["stream_options"] != nil || last["response_format"] != nil {
		t.Errorf("%d requests, the last one %v", len(srv.bodies), last)
	}
	srv = serve(t, bad("output_config: Extra inputs are not permitted"), messages(good))
	a := &Anthropic{Server: srv.server(nil), Model: "m"}
	if got, err := a.Ask(context.Background(), ask()); err != nil || got.Text != good || srv.bodies[1]["output_config"] != nil {
		t.Errorf("%+v, %v", got, err)
	}
	srv = serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"model":"x","choices":[{"message":{"content":%s},"finish_reason":"stop"}]}`, asJSON(good))
	})
	o = &OpenAI{Server: srv.server(nil), Model: "m"}
	if got, err := o.Ask(context.Background(), ask()); err != nil || got.Text != good || got.Usage.Input == 0 || got.Usage.Output == 0 {
		t.Errorf("without a stream: %+v, %v", got, err)
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	srv := serve(t, messages(good))
	s := srv.server(nil)
	s.Key = func(context.Context) (string, error) { return "", fmt.Errorf("%w: no key", ErrAuth) }
	if _, err := (&Anthropic{Server: s, Model: "m"}).Ask(context.Background(), ask()); !errors.Is(err, ErrAuth) || len(srv.bodies) > 0 {
		t.Errorf("got %v after %d requests, want ErrAuth after none", err, len(srv.bodies))
	}
	for _, u := range []string{"", "ftp://x", "http://", "localhost:11434", "https://user:pw@x/", "http://\x00"} {
		s := &Server{URL: u}
		if _, err := (&OpenAI{Server: s, Model: "m"}).Ask(context.Background(), ask()); !errors.Is(err, ErrSetup) {
			t.Errorf("%q: got %v, want ErrSetup", u, err)
		}
	}
	for u, want := range map[string]bool{"http://127.0.0.1:1/v1": true, "http://[::1]/": true, "http://localhost:11434": true, "https://api.example.com": false, "http://localhost.example.com": false} {
		if got := (&Server{URL: u}).Loopback(); got != want {
			t.Errorf("Loopback(%s) = %v", u, got)
		}
	}
	var err error
	for range 5 { // another program may take the port meanwhile
		srv := httptest.NewServer(http.NotFoundHandler())
		srv.Close()
		dead := &Server{URL: srv.URL, Sleep: func(context.Context, time.Duration) error { return nil }}
		if _, err = (&OpenAI{Server: dead, Model: "m"}).Ask(context.Background(), ask()); err != nil && strings.Contains(err.Error(), "refused") {
			return
		}
	}
	t.Errorf("nobody there: %v", err)
}

func TestEvents(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"data: a\n\n":                             "[{ a}]",
		"event: x\r\ndata: a\r\ndata: b\r\n\r\n":  "[{x a\nb}]",
		": comment\n\nid: 1\ndata\n\n":            "[{ }]",
		"\ufeffdata: a\n\nevent: lost\n\ndata: b": "[{ a}]",
		"event: x\n\ndata: a\n\n":                 "[{ a}]",
		"":                                        "[]",
	} {
		var got []event
		for e, err := range events(strings.NewReader(in)) {
			if err != nil {
				t.Error(err)
			}
			got = append(got, e)
		}
		if fmt.Sprint(got) != want {
			t.Errorf("events(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzEvents(f *testing.F) {
	f.Add("event: message_start\ndata: {\"type\":\"message_start\"}\n\ndata: [DONE]\r\n\r\n")
	f.Fuzz(func(t *testing.T, s string) {
		n := 0
		for e, err := range events(strings.NewReader(s)) {
			if err != nil {
				return
			}
			n += len(e.data) + len(e.name)
		}
		if n > len(s) {
			t.Fatalf("%d bytes from %d", n, len(s))
		}
		if _, err := readMessage(strings.NewReader(s)); err == nil && !strings.Contains(s, "message_stop") {
			t.Fatal("an answer without an end")
		}
	})
}
