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
)

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
			text = strings.ReplaceAll(text, `no text contains \"`+word+`\"`, "") // as an empty search does
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
