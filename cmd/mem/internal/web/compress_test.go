package web

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/web/api"
	"github.com/memvcs/mem/layers/engines"
	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/version"
	"github.com/memvcs/mem/layers/view"
)

// A parrot is a model that repeats the first words of every message. It waits before each answer until it may go on.
type parrot struct {
	asked chan struct{} // a value for each question
	may   chan error    // what each answer is to end with
}

func (p *parrot) ID() string { return "parrot m1" }

func (p *parrot) Ask(ctx context.Context, q engines.Question) (engines.Answer, error) {
	a := engines.Answer{Model: "m1-2026", Usage: engines.Usage{Input: 100, Output: 10}}
	p.asked <- struct{}{}
	select {
	case err := <-p.may:
		if err != nil {
			return a, err
		}
	case <-ctx.Done():
		return a, ctx.Err()
	}
	if a.Text = layerstest.Supported(q); a.Text != "" {
		return a, nil
	}
	key, _, _ := strings.Cut(q.Prompt[strings.Index(q.Prompt, "=== record ")+len("=== record "):], " ")
	type segment struct {
		Role     string `json:"role"`
		Messages []int  `json:"messages"`
		Text     string `json:"text"`
	}
	var segs []segment
	lines := strings.Split(q.Prompt, "\n")
	for i, l := range lines {
		var n int
		var role string
		if _, err := fmt.Sscanf(l, key+" %d %s", &n, &role); err != nil || i+1 == len(lines) {
			continue
		}
		if role != "user" {
			role = "assistant"
		}
		words := strings.Fields(lines[i+1])
		segs = append(segs, segment{role, []int{n}, strings.Join(words[:min(3, len(words))], " ")})
	}
	b, err := json.Marshal(map[string]any{"segments": segs})
	a.Text = string(b)
	return a, err
}

// withModel gives a world an engine "claude" that asks p.
func withModel(p *parrot) func(*api.World) {
	return func(w *api.World) {
		w.Engine = func(_ context.Context, _ state.Rev, name, _ string) (version.Summarizer, error) {
			if name != "claude" {
				return nil, nil
			}
			return engines.New(p, engines.Options{Window: 200_000}), nil
		}
	}
}

// jobEvents listens to the events of a server, and returns what they say of jobs.
func (r *rig) jobEvents() <-chan api.JobAnswer {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodGet, r.http.URL+api.Prefix+"/events", nil)
	must(r.t, err)
	req.Header.Set("Authorization", "Bearer "+r.token)
	res, err := client().Do(req)
	must(r.t, err)
	r.t.Cleanup(func() { res.Body.Close() })
	lines := bufio.NewScanner(res.Body)
	if !lines.Scan() || lines.Text() != "retry: 2000" {
		r.t.Fatalf("the stream begins with %q", lines.Text())
	}
	out := make(chan api.JobAnswer, 100)
	go func() {
		defer close(out)
		kind := ""
		for lines.Scan() {
			name, value, _ := strings.Cut(lines.Text(), ": ")
			switch {
			case name == "event":
				kind = value
			case name == "data" && kind == "job":
				var j api.JobAnswer
				if json.Unmarshal([]byte(value), &j) == nil {
					out <- j
				}
			}
		}
	}()
	return out
}

// next waits for something that another goroutine sends.
func next[T any](t *testing.T, what string, from <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-from:
	case <-time.After(2 * time.Minute): // a busy machine; that would be a hang
		t.Fatalf("never: %s", what)
	}
	return v
}

// TestModelJob compresses with a model: the request is answered at once with a job, and events tell how it ends.
func TestModelJob(t *testing.T) {
	t.Parallel()
	model := &parrot{make(chan struct{}, 100), make(chan error, 100)}
	r := newRig(t, withModel(model), nil)
	events := r.jobEvents()
	at := "/sessions/" + sampleSession + "/versions"
	post := func(ratio int) (j api.JobAnswer) {
		t.Helper()
		r.api(http.MethodPost, at, api.CompressionSettings{Ratio: ratio, Engine: "claude"}, &j, http.StatusAccepted)
		if j.State != "running" || j.ID == "" {
			t.Fatalf("the answer is %+v", j)
		}
		if e := next(t, "the event of the start", events); e.ID != j.ID || e.State != "running" {
			t.Errorf("the first event is %+v, want that %s runs", e, j.ID)
		}
		next(t, "the model is asked", model.asked)
		return j
	}
	versions := func() int {
		var list struct {
			Versions []view.Version `json:"versions"`
		}
		r.api(http.MethodGet, at, nil, &list, 200)
		return len(list.Versions)
	}

	j := post(5)
	for range 100 {
		model.may <- nil
	}
	end := next(t, "the event of the end", events)
	if end.ID != j.ID || end.State != "done" || end.Error != nil {
		t.Fatalf("the job ends as %+v %+v", end, end.Error)
	}
	var v struct {
		VersionID string `json:"versionId"`
		Content   string `json:"content"`
	}
	r.api(http.MethodGet, strings.TrimPrefix(end.Result, api.Prefix), nil, &v, 200)
	if v.VersionID != "v001" || v.Content == "" || versions() != 1 {
		t.Errorf("the result is %s with %d bytes, there are %d versions", v.VersionID, len(v.Content), versions())
	}
	for len(model.may) > 0 {
		<-model.may
	}
	for len(model.asked) > 0 {
		<-model.asked
	}

	j = post(6) // cancelled while the model thinks
	var cancelled api.JobAnswer
	r.api(http.MethodDelete, "/jobs/"+j.ID, nil, &cancelled, 200)
	if cancelled.State != "cancelled" {
		t.Errorf("DELETE answers %+v", cancelled)
	}
	if e := next(t, "the event of the cancellation", events); e.ID != j.ID || e.State != "cancelled" {
		t.Errorf("the event is %+v", e)
	}
	if n := versions(); n != 1 {
		t.Errorf("%d versions after the cancellation, want 1", n)
	}
	for len(model.asked) > 0 {
		<-model.asked
	}

	j = post(7) // the model fails
	model.may <- errors.New("the line is dead")
	if e := next(t, "the event of the failure", events); e.State != "failed" || e.Error == nil || !strings.Contains(e.Error.Message, "the line is dead") {
		t.Errorf("the event is %+v %+v", e, e.Error)
	}
	if body := r.get("/jobs/" + j.ID); !strings.Contains(body, "the line is dead") {
		t.Errorf("the page of the job: %s", between(body, "<h1>", "</section>"))
	}
	r.api(http.MethodDelete, "/jobs/"+j.ID, nil, &cancelled, 200)
	if cancelled.State != "failed" {
		t.Errorf("a job that has ended is %s after DELETE", cancelled.State)
	}
	r.api(http.MethodDelete, "/jobs/j99", nil, nil, 404)
}

// TestModelJobByForms compresses with a model from the page, and cancels it there.
func TestModelJobByForms(t *testing.T) {
	t.Parallel()
	model := &parrot{make(chan struct{}, 100), make(chan error, 100)}
	r := newRig(t, withModel(model), nil)
	form := url.Values{"mode": {"uniform"}, "ratio": {"5"}, "engine": {"claude"}}
	a := r.post("/s/"+sampleSession+"/compress", form)
	job := a.header.Get("Location")
	if a.status != 303 || !strings.HasPrefix(job, "/jobs/j") {
		t.Fatalf("create: %d %s %.300s", a.status, job, a.body)
	}
	next(t, "the model is asked", model.asked)
	if page := r.do(http.MethodGet, job, "", nil); page.header.Get("Refresh") == "" || !strings.Contains(page.body, job+"/cancel") {
		t.Errorf("the page of a job that runs: %v %s", page.header, between(page.body, "<h1>", "</section>"))
	}
	if a = r.post(job+"/cancel", nil); a.status != 303 {
		t.Fatalf("cancel: %d %.300s", a.status, a.body)
	}
	if body := r.get(job); !strings.Contains(body, "Cancelled. Nothing was written.") {
		t.Errorf("the page of a cancelled job: %s", between(body, "<h1>", "</section>"))
	}
}

// TestShortfall previews a version that is much smaller than asked: the page says so, and why.
func TestShortfall(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, nil)
	body := r.get("/s/" + sampleSession + "/compress?mode=uniform&ratio=1&level=aggressive")
	if !strings.Contains(body, " of the 9,653 tokens that were asked for: ") {
		t.Errorf("the preview: %s", between(body, `id="estimate"`, "</section>"))
	}
	if body = r.get("/s/" + sampleSession + "/compress?mode=uniform&ratio=30&level=aggressive"); strings.Contains(body, "that were asked for") {
		t.Errorf("the preview of a small version: %s", between(body, `id="estimate"`, "</section>"))
	}
}
