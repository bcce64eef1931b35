package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/layers/engines"
)

// A purse is a memory with a session, and a server that answers as a model does, each time for all that was allowed.
type purse struct {
	t      *testing.T
	dir    string
	server *httptest.Server
	mu     sync.Mutex
	asked  int
	billed int // tokens
	hang   chan struct{}
}

func newPurse(t *testing.T, hang bool) *purse {
	p := &purse{t: t, dir: t.TempDir()}
	if hang {
		p.hang = make(chan struct{})
	}
	p.server = httptest.NewServer(http.HandlerFunc(p.answer))
	t.Cleanup(p.server.Close)
	var b strings.Builder
	for i := range 60 {
		fmt.Fprintf(&b, `{"type":"user","sessionId":"s123","uuid":"%d","cwd":"/home/dev/shop","timestamp":"2026-01-15T10:%02d:00Z","message":{"role":"user","content":"Request%d wants doThing%d in pkg/part%d/file.go to be faster."}}`+"\n", i, i, i, i, i)
	}
	file := filepath.Join(p.dir, "s123.jsonl")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init"}, {"add", file}} {
		if out, err := p.command(args...).CombinedOutput(); err != nil {
			t.Fatalf("mem %s: %v\n%s", args, err, out)
		}
	}
	return p
}

// answer bills the question as it is estimated and the longest answer.
func (p *purse) answer(w http.ResponseWriter, r *http.Request) {
	var q struct {
		MaxTokens int `json:"max_tokens"`
		Messages  []struct {
			Content string `json:"content"`
		} `json:"messages"`
	}
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil || len(q.Messages) == 0 {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	p.mu.Lock()
	p.asked++
	first := p.asked == 1
	p.mu.Unlock()
	if p.hang != nil && first {
		close(p.hang)
		<-r.Context().Done()
		return
	}
	time.Sleep(300 * time.Millisecond) // so that requests overlap
	p.mu.Lock()
	p.billed += 1000 + q.MaxTokens
	p.mu.Unlock()
	text, err := json.Marshal(answered(engines.Question{Prompt: q.Messages[len(q.Messages)-1].Content}))
	if err != nil {
		panic(err) // it is a string
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"model":"local-1","choices":[{"message":{"content":%s},"finish_reason":"stop"}],"usage":{"prompt_tokens":1000,"completion_tokens":%d}}`, text, q.MaxTokens)
}

func (p *purse) command(args ...string) *exec.Cmd {
	cmd := exec.Command("mem", args...)
	cmd.Dir = p.dir
	cmd.Env = []string{"HOME=" + p.dir, "MEM_DIR=" + filepath.Join(p.dir, "memory"), "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(),
		"CLAUDE_CONFIG_DIR=" + filepath.Join(p.dir, "claude"), "LC_ALL=C", "SYSTEMROOT=" + os.Getenv("SYSTEMROOT")}
	return cmd
}

func (p *purse) compress(limit string, tokens int) *exec.Cmd {
	return p.command("compress", "s123", "--tokens", fmt.Sprint(tokens), "--engine", "openai", "--model", "local-1",
		"-c", "llm.baseURL="+p.server.URL+"/v1", "-c", "llm.maxUSDPerDay=none", "-c", "lock.timeout=5m", "-c", "llm.maxTokensPerDay="+limit)
}

// need is the cost of one request, which the error of a smaller cap names.
func (p *purse) need() int {
	out, err := p.compress("1", 320).CombinedOutput()
	_, text, ok := strings.Cut(string(out), "the next request may take ")
	digits, _, _ := strings.Cut(text, "\n")
	n, errNumber := strconv.Atoi(strings.ReplaceAll(digits, ",", ""))
	if err == nil || !ok || errNumber != nil {
		p.t.Fatalf("%v, %v: %s", err, errNumber, out)
	}
	return n
}

// spent is what the ledger says of all days.
func (p *purse) spent() int {
	out, err := p.command("cost", "--json").Output()
	var a struct {
		Total struct {
			Input  int `json:"inputTokens"`
			Output int `json:"outputTokens"`
		} `json:"total"`
	}
	if err == nil {
		err = json.Unmarshal(out, &a)
	}
	if err != nil {
		p.t.Fatalf("%v: %s", err, out)
	}
	return a.Total.Input + a.Total.Output
}

// holds returns the files of requests under way.
func (p *purse) holds() []string {
	found, err := filepath.Glob(filepath.Join(p.dir, "memory", "holds", "hold-*"))
	if err != nil {
		p.t.Fatal(err)
	}
	return found
}

// TestCapOfManyProcesses lets eight processes ask at the same time under a cap that has room for about three.
func TestCapOfManyProcesses(t *testing.T) {
	t.Parallel()
	p := newPurse(t, false)
	limit := p.need() * 7 / 2
	var wg sync.WaitGroup
	codes, texts := make([]int, 8), make([]string, 8)
	for i := range codes {
		wg.Go(func() {
			var errs bytes.Buffer
			cmd := p.compress(fmt.Sprint(limit), 320+i)
			cmd.Stderr = &errs
			err := cmd.Run()
			var exit *exec.ExitError
			if errors.As(err, &exit) {
				codes[i] = exit.ExitCode()
			} else if err != nil {
				codes[i] = -1
			}
			texts[i] = errs.String()
		})
	}
	wg.Wait()
	done, refused := 0, 0
	for i, c := range codes {
		switch c {
		case app.ExitDone:
			done++
		case app.ExitBudget:
			refused++
			if !strings.Contains(texts[i], "llm.maxTokensPerDay is") {
				t.Errorf("refused with %s", texts[i])
			}
		default:
			t.Errorf("exit status %d: %s", c, texts[i])
		}
	}
	if refused == 0 || p.asked < 3 || 2*done > p.asked { // a version takes two requests
		t.Errorf("%d processes done, %d refused, %d requests", done, refused, p.asked)
	}
	if p.billed > limit || p.spent() != p.billed {
		t.Errorf("%d tokens billed, %d in the ledger, the cap is %d", p.billed, p.spent(), limit)
	}
	if found := p.holds(); len(found) > 0 {
		t.Errorf("still held: %v", found)
	}
}

// TestCapAfterKill kills a process during its request: the share of the cap that it had reserved is free immediately.
func TestCapAfterKill(t *testing.T) {
	t.Parallel()
	p := newPurse(t, true)
	limit := fmt.Sprint(p.need() * 3 / 2)
	stuck := p.compress(limit, 320)
	if err := stuck.Start(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.hang:
	case <-time.After(4 * time.Minute):
		t.Fatal("the first process asks nothing")
	}
	out, err := p.compress(limit, 321).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "requests under way may take") {
		t.Errorf("while a request is under way: %v\n%s", err, out)
	}
	if len(p.holds()) == 0 {
		t.Error("nothing is held")
	}
	if err := stuck.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := stuck.Wait(); err == nil {
		t.Error("a killed process ended well")
	}
	freed := fmt.Sprint(p.need() * 3) // for the two requests of a version, not for one more
	if out, err := p.compress(freed, 322).CombinedOutput(); err != nil {
		t.Errorf("after it was killed: %v\n%s", err, out)
	}
	if found := p.holds(); len(found) > 0 {
		t.Errorf("still held: %v", found)
	}
}
