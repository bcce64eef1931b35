package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
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

// Two sessions that differ in one word. The first is hidden in some way, the second never is.
const (
	hiddenSession, hiddenWord = "a1aaaaaa", "quokka"
	openSession, openWord     = "b2bbbbbb", "wombat"
)

// mcpTools are the tools of a server that may write.
var mcpTools = []string{"compose", "facts", "keepit_add", "search", "show", "suggest", "timeline"}

// know adds a session about a word, and a fact, a version, a composition and a concept that rest on it.
func (r *mcpRig) know(id, word string) {
	r.t.Helper()
	session := strings.ReplaceAll(`{"type":"user","uuid":"ID-u1","sessionId":"ID","cwd":"/home/dev/shop",`+
		`"timestamp":"2026-01-18T10:01:00Z","message":{"role":"user","content":"Use the WORD retry for the shop."}}
{"type":"assistant","uuid":"ID-u2","parentUuid":"ID-u1","sessionId":"ID","timestamp":"2026-01-18T10:02:00Z",`+
		`"message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"The WORD retry waits."},`+
		`{"type":"tool_use","id":"t1","name":"Edit","input":{"file_path":"/home/dev/shop/WORD.go","old_string":"a",`+
		`"new_string":"WORD"}}]}}
{"type":"user","uuid":"ID-u3","parentUuid":"ID-u2","sessionId":"ID","timestamp":"2026-01-18T10:03:00Z",`+
		`"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"WORD.go is updated"}]}}
{"type":"user","uuid":"ID-u4","parentUuid":"ID-u3","sessionId":"ID","timestamp":"2026-01-18T10:04:00Z",`+
		`"message":{"role":"user","content":"The WORD tests are broken."}}
`, "ID", id)
	file, saved := filepath.Join(r.dir, id+".jsonl"), filepath.Join(r.dir, id+".json")
	must(r.t, os.WriteFile(file, []byte(strings.ReplaceAll(session, "WORD", word)), 0o644))
	r.mem("add", "-q", file)
	fact := func(kind, text string, n int) string {
		return fmt.Sprintf(`{"kind":%q,"text":%q,"evidence":[{"message":%d,"quote":%q}]}`, kind, text, n, text)
	}
	must(r.t, os.WriteFile(saved, fmt.Appendf(nil, `{"session":%q,"through":4,"exchanges":[{"facts":[%s,%s]}]}`, id,
		fact("request", "Use the "+word+" retry for the shop.", 1),
		fact("issue", "The "+word+" tests are broken.", 4)), 0o644))
	r.mem("facts", "save", "-q", saved)
	r.mem("-p", "shop", "compress", "-q", id, "-r", "2")
	r.mem("-p", "shop", "compose", "-q", "ctx-"+id, id+":v001", "--budget", "4k")
	r.mem("-p", "shop", "concepts", "assign", "-q", id, "--new", "About "+word, "--topic", word)
}

// mcpCalls are calls of each tool that return the data about a word, if it may be shown.
func mcpCalls(id, word string, ids []string) map[string][]any {
	calls := map[string][]any{}
	for _, projects := range []string{"", "related", "all"} {
		for _, in := range []mcpcmd.SearchIn{
			{Query: word}, {Query: word, In: "L2"}, {Query: word, In: "L3"}, {Query: word, In: "versions"},
			{Query: word, In: "compositions"}, {Regexp: []string{word}}, {Files: []string{word + ".go"}}, {Topic: word},
		} {
			in.Projects = projects
			calls["search"] = append(calls["search"], in)
		}
	}
	message := func(n int) string { return fmt.Sprintf("%s#%d", id, n) }
	version, composed := id+":v001", "ctx-"+id
	for _, ref := range []string{"", id, message(1), message(3)} {
		calls["timeline"] = append(calls["timeline"], mcpcmd.TimelineIn{Ref: ref})
	}
	refs := []string{id, message(1), message(2), message(4), id + ":L1", id + ":L2",
		id + ":original", version, composed}
	for _, ref := range append(refs, ids...) {
		calls["show"] = append(calls["show"], mcpcmd.ShowIn{Ref: ref})
	}
	for _, in := range []mcpcmd.FactsIn{{}, {Query: word}, {Session: id}, {Open: true}, {Kinds: []string{"request"}}} {
		calls["facts"] = append(calls["facts"], in)
	}
	for _, in := range []mcpcmd.SuggestIn{{}, {Topics: []string{word}}, {Files: []string{word + ".go"}}} {
		calls["suggest"] = append(calls["suggest"], in)
	}
	for i, rev := range []string{id, version, composed} {
		in := mcpcmd.ComposeIn{Name: fmt.Sprintf("new-%s-%d", id, i), Revs: []string{rev}}
		calls["compose"] = append(calls["compose"], in)
	}
	calls["keepit_add"] = []any{mcpcmd.KeepitIn{Ref: message(1)}, mcpcmd.KeepitIn{Ref: message(4), Text: "tests"}}
	return calls
}

// answers calls tools and returns, for each tool, the answers that have to do with a session: by its word or its name.
func (r *mcpRig) answers(s *sdk.ClientSession, id, word string, calls map[string][]any) map[string][]string {
	r.t.Helper()
	tells := regexp.MustCompile(word + "|" + id)
	told := map[string][]string{}
	for tool, list := range calls {
		for _, in := range list {
			text, failed := r.call(s, tool, in, nil)
			asked, err := json.Marshal(in)
			must(r.t, err)
			if failed { // an error may repeat the name that it was asked for
				text = strings.ReplaceAll(text, id, "")
			}
			text = strings.ReplaceAll(text, `no searched text contains \"`+word+`\"`, "") // as an empty search does
			if tells.MatchString(text) {
				told[tool] = append(told[tool], fmt.Sprintf("%s: %s", asked, text))
			}
		}
	}
	return told
}

// ids returns the names of the facts and concepts about a word.
func (r *mcpRig) ids(project, word string) (ids []string) {
	r.t.Helper()
	out := r.mem("-p", project, "facts", "list") + r.mem("-p", project, "concepts", "list")
	for line := range strings.Lines(out) {
		if strings.Contains(line, word) {
			ids = append(ids, strings.Fields(line)[0])
		}
	}
	if len(ids) < 3 {
		r.t.Fatalf("two facts and a concept about %s, want their names in\n%s", word, out)
	}
	return ids
}

// TestMCPTrust hides a session under a running server: no tool tells anything of it, and each tells of another session.
func TestMCPTrust(t *testing.T) {
	t.Parallel()
	compositions := []string{"ctx-" + hiddenSession, "new-" + hiddenSession + "-0", "new-" + hiddenSession + "-1"}
	for name, hide := range map[string][][]string{
		"removed":           {append([]string{"rm", "-y", "-q"}, compositions...), {"rm", "-y", hiddenSession}},
		"revoked":           {{"revoke", "-y", hiddenSession, "--reason", "wrong"}},
		"forgotten":         {{"forget", "-y", hiddenSession}},
		"forgotten by word": {{"forget", "-y", "--match", hiddenWord}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newMCPRig(t, "laptop")
			r.know(hiddenSession, hiddenWord)
			r.know(openSession, openWord)
			s := r.connect("--write")
			calls := mcpCalls(hiddenSession, hiddenWord, r.ids("shop", hiddenWord))
			r.all(s, hiddenSession, hiddenWord, calls)
			for _, command := range hide {
				r.mem(append([]string{"-p", "shop"}, command...)...)
			}
			tells := r.answers(s, hiddenSession, hiddenWord, calls)
			if name == "forgotten by word" { // the session is still there, without the messages that matched
				tells = r.answers(s, hiddenWord, hiddenWord, calls)
			}
			r.none(tells)
			r.all(s, openSession, openWord, mcpCalls(openSession, openWord, r.ids("shop", openWord)))
		})
	}
}

// TestMCPUntrusted asks for the data of another device before and after it is trusted.
func TestMCPUntrusted(t *testing.T) {
	t.Parallel()
	laptop, desk := newMCPRig(t, "laptop"), newMCPRig(t, "desk")
	hub := filepath.Join(laptop.dir, "hub.git")
	laptop.know(hiddenSession, hiddenWord)
	if out, err := exec.Command("git", "init", "-q", "--bare", hub).CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: git cannot make a repository: %v %s", err, out)
	}
	laptop.mem("remote", "add", "origin", hub)
	laptop.mem("-p", "shop", "push", "-q", "--yes")
	desk.know(openSession, openWord)
	desk.mem("remote", "add", "origin", hub)
	desk.mem("pull", "-q")
	own := desk.connect("--write")
	plain := mcpCalls(hiddenSession, hiddenWord, nil)
	theirs := desk.serve("shop", "--write")
	for _, s := range []*sdk.ClientSession{own, theirs} {
		desk.none(desk.answers(s, hiddenSession, hiddenWord, plain))
	}
	desk.all(own, openSession, openWord, mcpCalls(openSession, openWord, desk.ids("shop", openWord)))
	desk.mem("device", "trust", "-y", "laptop")
	told := desk.answers(theirs, hiddenSession, hiddenWord, plain)
	if len(told["search"]) == 0 || len(told["show"]) == 0 {
		t.Errorf("a device that is trusted is not served: %v", told)
	}
}

// TestMCPRevokedTool revokes a tool: its calls and results, and everything derived from them, are hidden; the rest of the session is
// served.
func TestMCPRevokedTool(t *testing.T) {
	t.Parallel()
	r := newMCPRig(t, "laptop")
	file, saved := filepath.Join(r.dir, "c3cccccc.jsonl"), filepath.Join(r.dir, "save.json")
	session := strings.ReplaceAll(`{"type":"user","uuid":"u1","sessionId":"ID","cwd":"/home/dev/shop",`+
		`"timestamp":"2026-01-18T10:01:00Z","message":{"role":"user","content":"Read the wombat prices."}}
{"type":"assistant","uuid":"u2","parentUuid":"u1","sessionId":"ID","timestamp":"2026-01-18T10:02:00Z",`+
		`"message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"WebFetch",`+
		`"input":{"url":"https://x.example/quokka","prompt":"prices"}}]}}
{"type":"user","uuid":"u3","parentUuid":"u2","sessionId":"ID","timestamp":"2026-01-18T10:03:00Z",`+
		`"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"A quokka costs 9."}]}}
{"type":"assistant","uuid":"u4","parentUuid":"u3","sessionId":"ID","timestamp":"2026-01-18T10:04:00Z",`+
		`"message":{"id":"m2","role":"assistant","content":[{"type":"text","text":"The wombat prices are read."}]}}
`, "ID", "c3cccccc")
	must(t, os.WriteFile(file, []byte(session), 0o644))
	must(t, os.WriteFile(saved, []byte(`{"session":"c3cccccc","through":4,"exchanges":[{"facts":[{"kind":"decision",`+
		`"text":"A quokka costs 9.","evidence":[{"message":3,"quote":"A quokka costs 9."}]}]}]}`), 0o644))
	r.mem("add", "-q", file)
	r.mem("facts", "save", "-q", saved)
	r.mem("-p", "shop", "compress", "-q", "c3cccccc", "-r", "2")
	r.mem("-p", "shop", "compose", "-q", "ctx-c3cccccc", "c3cccccc:original", "--budget", "4k")
	fact := strings.Fields(r.mem("-p", "shop", "facts", "list"))[0]
	s := r.connect("--write")
	calls := mcpCalls("c3cccccc", hiddenWord, []string{fact, "c3cccccc:L2"})
	before := r.answers(s, hiddenWord, hiddenWord, calls)
	for _, tool := range []string{"facts", "search", "show", "timeline"} {
		if len(before[tool]) == 0 {
			t.Errorf("%s tells nothing of the page", tool)
		}
	}
	r.mem("-p", "shop", "revoke", "-y", "--source", "WebFetch", "--reason", "poisoned")
	r.none(r.answers(s, hiddenWord, hiddenWord, calls))
	told := r.answers(s, openWord, openWord, mcpCalls("c3cccccc", openWord, nil))
	for _, tool := range []string{"search", "show", "suggest", "timeline"} {
		if len(told[tool]) == 0 {
			t.Errorf("%s tells nothing of what the user and the model said", tool)
		}
	}
}

// all checks that each tool tells of a session.
func (r *mcpRig) all(s *sdk.ClientSession, id, word string, calls map[string][]any) {
	r.t.Helper()
	told := r.answers(s, id, word, calls)
	for _, tool := range mcpTools {
		if len(told[tool]) == 0 {
			r.t.Errorf("%s tells nothing of %s", tool, word)
		}
	}
	if r.t.Failed() {
		r.t.FailNow()
	}
}

// none checks that no tool returned anything.
func (r *mcpRig) none(told map[string][]string) {
	r.t.Helper()
	for _, tool := range mcpTools {
		for _, answer := range slices.Sorted(slices.Values(told[tool])) {
			r.t.Errorf("%s tells what is hidden: %.300s", tool, answer)
		}
	}
}
