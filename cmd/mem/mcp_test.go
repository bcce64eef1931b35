package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/memvcs/mem/cmd/mem/internal/mcpcmd"
	"github.com/memvcs/mem/layers/tokens"
)

// An mcpRig is a store of its own and what speaks to it.
type mcpRig struct {
	t   *testing.T
	dir string
	env []string
}

// newMCPRig makes an empty store of a device.
func newMCPRig(t *testing.T, device string) *mcpRig {
	dir := t.TempDir()
	r := &mcpRig{t: t, dir: dir, env: append(os.Environ(), "HOME="+dir, "MEM_DIR="+filepath.Join(dir, "store"), "MEM_NOW=2026-01-20T10:00:00Z",
		"CLAUDE_CONFIG_DIR="+filepath.Join(dir, "claude"))}
	r.mem("init", "-q", "--device", device)
	return r
}

// newMCPShop makes a store with two sessions of the project shop.
func newMCPShop(t *testing.T) *mcpRig {
	r := newMCPRig(t, "laptop")
	dir := r.dir
	for i, text := range []string{"Write the retry policy of the shop. It waits twice as long each time.", "How are taxes rounded? Down, for every line."} {
		var b strings.Builder
		id := fmt.Sprintf("%c%daaaaaa", 'a'+i, i+1)
		fmt.Fprintf(&b, `{"type":"user","uuid":"00000000-0000-4000-8000-0000000000%da","sessionId":%q,"cwd":"/home/dev/shop","timestamp":"2026-01-18T1%d:01:00Z","message":{"role":"user","content":%q}}`+"\n", i, id, i, text)
		for n := range 60 { // so that many hits, and more than a page, are there
			if n == 59 { // lines that are no messages: the last message has a higher number than there are messages
				b.WriteString(strings.Repeat(`{"type":"file-history-snapshot","messageId":"m","snapshot":{}}`+"\n", 2))
			}
			fmt.Fprintf(&b, `{"type":"assistant","uuid":"00000000-0000-4000-8000-00000000%d1%02d","sessionId":%q,"timestamp":"2026-01-18T1%d:02:00Z","message":{"id":"m%d","role":"assistant","content":[{"type":"text","text":"Step %d of the work: the backoff is checked against a clock of its own, %s."}]}}`+"\n",
				i, n, id, i, n, n, strings.Repeat("and the deadline is passed down with the context ", 6))
		}
		file := filepath.Join(dir, id+".jsonl")
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		r.mem("add", "-q", file)
	}
	return r
}

func (r *mcpRig) mem(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("mem", args...)
	cmd.Env, cmd.Dir = r.env, r.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("mem %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// connect starts a server and speaks to it over its standard streams.
func (r *mcpRig) connect(args ...string) *sdk.ClientSession {
	r.t.Helper()
	return r.serve("shop", args...)
}

// serve starts a server for a project.
func (r *mcpRig) serve(project string, args ...string) *sdk.ClientSession {
	r.t.Helper()
	cmd := exec.Command("mem", append([]string{"-p", project, "mcp"}, args...)...)
	cmd.Env, cmd.Dir, cmd.Stderr = r.env, r.dir, os.Stderr
	s, err := sdk.NewClient(&sdk.Implementation{Name: "test"}, nil).Connect(r.t.Context(), &sdk.CommandTransport{Command: cmd}, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		if err := s.Close(); err != nil {
			r.t.Errorf("the server ended with %v", err)
		}
	})
	return s
}

// call calls a tool and decodes its structured answer into out, if that is not nil. It returns the text of an error.
func (r *mcpRig) call(s *sdk.ClientSession, name string, in, out any) (text string, failed bool) {
	r.t.Helper()
	res, err := s.CallTool(r.t.Context(), &sdk.CallToolParams{Name: name, Arguments: in})
	if err != nil {
		return err.Error(), true
	}
	for _, c := range res.Content {
		if c, ok := c.(*sdk.TextContent); ok {
			text += c.Text
		}
	}
	if out != nil && !res.IsError {
		b, err := json.Marshal(res.StructuredContent)
		if err == nil {
			err = json.Unmarshal(b, out)
		}
		if err != nil {
			r.t.Fatalf("%s: %v", name, err)
		}
	}
	return text, res.IsError
}

// TestMCP calls the tools of a server that may not write.
func TestMCP(t *testing.T) {
	t.Parallel()
	r := newMCPShop(t)
	s := r.connect()

	tools, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, x := range tools.Tools {
		names = append(names, x.Name)
		if x.OutputSchema == nil || !x.Annotations.ReadOnlyHint {
			t.Errorf("%s has no schema of its output, or is not read-only", x.Name)
		}
	}
	if got, want := strings.Join(names, " "), "compose facts search show suggest timeline"; got != want {
		t.Errorf("tools %s, want %s", got, want)
	}

	var found mcpcmd.SearchOut
	text, failed := r.call(s, "search", mcpcmd.SearchIn{Query: "backoff clock", Limit: 100}, &found)
	if n := tokens.Raw(text); failed || len(found.Hits) != 3 || found.More != 0 || n > 1000 { // of one session
		t.Errorf("search: %d hits, %d more, %d tokens, want three, at most 1000\n%s", len(found.Hits), found.More, n, text)
	}
	if text, failed := r.call(s, "search", mcpcmd.SearchIn{Query: "retry policy"}, &found); failed || !strings.Contains(found.Hits[0].Line, "retry policy") || found.Hits[0].Ref != "a1aaaaaa#1" {
		t.Errorf("search: %s", text)
	}

	pages, offset := "", 0
	for range 20 {
		var page mcpcmd.ShowOut
		if text, failed := r.call(s, "show", mcpcmd.ShowIn{Ref: "a1aaaaaa", Offset: offset}, &page); failed || len(page.Text) > mcpcmd.PageSize {
			t.Fatalf("show: %s", text)
		}
		pages += page.Text
		if offset = page.Next; offset == 0 {
			break
		}
	}
	if len(pages) <= mcpcmd.PageSize || !strings.Contains(pages, "retry policy") || !strings.Contains(pages, "Step 59 ") || strings.Count(pages, "Step 30 ") != 1 {
		t.Errorf("the pages of show are %d bytes and not the session", len(pages))
	}

	for ref, offset := range map[string]int{"a1aaaaaa#61": 0, "a1aaaaaa#1": 1 << 20} {
		var page mcpcmd.ShowOut
		if text, failed := r.call(s, "show", mcpcmd.ShowIn{Ref: ref, Offset: offset}, &page); failed || page.Text != "" || !strings.Contains(text, `"note":"`) {
			t.Errorf("show of no text: %s", text)
		}
	}

	var line mcpcmd.TimelineOut
	if text, failed := r.call(s, "timeline", mcpcmd.TimelineIn{}, &line); failed || len(line.Moments) != 2 || line.Moments[0].Ref != "b2aaaaaa" {
		t.Errorf("timeline: %s", text)
	}
	if text, failed := r.call(s, "timeline", mcpcmd.TimelineIn{Ref: "a1aaaaaa#10", Count: 2}, &line); failed || len(line.Moments) != 5 || line.Moments[2].Ref != "a1aaaaaa#10" {
		t.Errorf("timeline: %s", text)
	}
	if text, failed := r.call(s, "timeline", mcpcmd.TimelineIn{Ref: "a1aaaaaa#63", Count: 2}, &line); failed || len(line.Moments) != 3 || line.Moments[0].Ref != "a1aaaaaa#59" {
		t.Errorf("timeline across lines that are no messages: %s", text)
	}
	var likely mcpcmd.SuggestOut
	if text, failed := r.call(s, "suggest", mcpcmd.SuggestIn{Topics: []string{"taxes"}}, &likely); failed || len(likely.Suggestions) == 0 || !strings.HasPrefix(likely.Suggestions[0].Rev, "b2aaaaaa") {
		t.Errorf("suggest: %s", text)
	}
	var plan mcpcmd.ComposeOut
	if text, failed := r.call(s, "compose", mcpcmd.ComposeIn{Name: "ctx", Revs: []string{"a1aaaaaa", "b2aaaaaa"}}, &plan); failed || plan.Saved || len(plan.Parts) != 2 {
		t.Errorf("compose: %s", text)
	}
	if text, failed := r.call(s, "show", mcpcmd.ShowIn{Ref: "ctx"}, nil); !failed {
		t.Errorf("compose of a read-only server saved ctx: %s", text)
	}
	if _, failed := r.call(s, "keepit_add", mcpcmd.KeepitIn{Ref: "a1aaaaaa#1"}, nil); !failed {
		t.Error("a read-only server marks text")
	}
}

// TestMCPWrite calls the tools that change memory.
func TestMCPWrite(t *testing.T) {
	t.Parallel()
	r := newMCPShop(t)
	s := r.connect("--write")
	var k mcpcmd.KeepitOut
	if text, failed := r.call(s, "keepit_add", mcpcmd.KeepitIn{Ref: "a1aaaaaa#1", Text: "It waits twice as long each time.", Weight: "pinned"}, &k); failed || k.Weight != "1.00" {
		t.Errorf("keepit_add: %s", text)
	}
	if got := r.mem("-p", "shop", "keepit", "list", "a1aaaaaa"); !strings.Contains(got, "It waits twice") {
		t.Errorf("the marker is not there: %s", got)
	}
	if text, failed := r.call(s, "keepit_add", mcpcmd.KeepitIn{Ref: "a1aaaaaa#2"}, nil); !failed || !strings.Contains(text, "typed") {
		t.Errorf("text of the model was marked: %s", text)
	}
	var made mcpcmd.ComposeOut
	if text, failed := r.call(s, "compose", mcpcmd.ComposeIn{Name: "ctx", Revs: []string{"a1aaaaaa"}}, &made); failed || !made.Saved {
		t.Errorf("compose: %s", text)
	}
	if got := r.mem("-p", "shop", "show", "ctx", "--format", "md"); !strings.Contains(got, "retry policy") {
		t.Errorf("the composition is not there: %s", got)
	}
}

// TestMCPHidden revokes and removes sessions under a running server.
func TestMCPHidden(t *testing.T) {
	t.Parallel()
	r := newMCPShop(t)
	s := r.connect()
	var found mcpcmd.SearchOut
	if text, _ := r.call(s, "search", mcpcmd.SearchIn{Query: "taxes rounded"}, &found); len(found.Hits) == 0 {
		t.Fatalf("search: %s", text)
	}
	r.mem("-p", "shop", "compress", "a1aaaaaa", "--ratio", "5")
	if text, failed := r.call(s, "show", mcpcmd.ShowIn{Ref: "a1aaaaaa:v001"}, nil); failed {
		t.Errorf("show of a version: %s", text)
	}
	r.mem("-p", "shop", "rm", "-y", "a1aaaaaa:v001")
	if text, failed := r.call(s, "show", mcpcmd.ShowIn{Ref: "a1aaaaaa:v001"}, nil); !failed {
		t.Errorf("show shows a removed version: %s", text)
	}
	if text, failed := r.call(s, "compose", mcpcmd.ComposeIn{Name: "ctx", Revs: []string{"a1aaaaaa:v001"}}, nil); !failed {
		t.Errorf("compose takes a removed version: %s", text)
	}
	r.mem("-p", "shop", "revoke", "-y", "b2aaaaaa", "--reason", "wrong")
	r.mem("-p", "shop", "rm", "-y", "a1aaaaaa")
	for query, id := range map[string]string{"taxes rounded": "b2aaaaaa", "retry policy": "a1aaaaaa"} {
		found = mcpcmd.SearchOut{}
		if text, _ := r.call(s, "search", mcpcmd.SearchIn{Query: query}, &found); len(found.Hits) > 0 {
			t.Errorf("search finds what is hidden: %s", text)
		}
		for _, tool := range []string{"show", "timeline"} {
			if text, failed := r.call(s, tool, map[string]string{"ref": id + "#1"}, nil); !failed {
				t.Errorf("%s shows what is hidden: %s", tool, text)
			}
		}
		if text, failed := r.call(s, "compose", mcpcmd.ComposeIn{Name: "ctx", Revs: []string{id}}, nil); !failed {
			t.Errorf("compose takes what is hidden: %s", text)
		}
	}
	var line mcpcmd.TimelineOut
	if text, _ := r.call(s, "timeline", mcpcmd.TimelineIn{}, &line); len(line.Moments) > 0 {
		t.Errorf("timeline lists what is hidden: %s", text)
	}
}
