package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/clipperhouse/displaywidth"

	"github.com/memvcs/mem/cmd/mem/internal/app"
)

// A world is an Env whose streams are kept.
type world struct {
	app.Env
	out, err bytes.Buffer
	vars     map[string]string
}

// newWorld returns a world of pipes with an empty home, or of terminals that are 60 columns wide.
func newWorld(t *testing.T, terminal bool) *world {
	t.Helper()
	dir := t.TempDir()
	w := &world{vars: map[string]string{"HOME": dir, "USERPROFILE": dir, "MEM_NOW": "2026-01-20T14:00:00Z"}}
	w.Env = app.Env{
		Stdin: strings.NewReader(""), Stdout: &w.out, Stderr: &w.err, Dir: dir,
		Getenv:     func(k string) string { return w.vars[k] },
		Now:        func() time.Time { return time.Unix(0, 0) },
		Uptime:     func() time.Duration { return 0 },
		Rand:       strings.NewReader(""),
		Executable: func() (string, error) { return "/bin/mem", nil },
		Hostname:   func() (string, error) { return "host", nil },
		Term:       app.Term{Stdin: terminal, Stdout: terminal, Stderr: terminal, Width: func() int { return 60 }},
	}
	w.Env.Opt.LockTimeout = -1
	w.Env.Out = app.NewOutput(&w.out, terminal)
	return w
}

func (w *world) run(args ...string) int { return run(context.Background(), w.Env, args) }

// TestListSettings lists sessions of several months for people, as the settings want it.
func TestListSettings(t *testing.T) {
	t.Parallel()
	w := newWorld(t, true)
	w.vars["NO_COLOR"], w.vars["PAGER"] = "1", "cat"
	w.Env.Rand, w.Env.Environ = rand.Reader, func() []string { return nil }
	for i, day := range []string{"2025-12-24", "2026-01-15"} {
		line := fmt.Sprintf(`{"type":"user","sessionId":"aaaa000%d","cwd":"/w","timestamp":"%sT09:00:00Z","message":{"role":"user","content":"%s"}}`+"\n", i, day, strings.Repeat("Keep the prices of the shop as they are. ", 20))
		must(t, os.WriteFile(filepath.Join(w.Env.Dir, fmt.Sprintf("aaaa000%d.jsonl", i)), []byte(line), 0o600))
	}
	for _, args := range [][]string{{"init"}, {"add", "aaaa0000.jsonl", "aaaa0001.jsonl"}, {"compress", "aaaa0001", "--ratio", "2"}} {
		if w.run(args...) != 0 {
			t.Fatalf("mem %v: %s", args, w.err.String())
		}
	}
	for _, tt := range []struct {
		set, args        string
		months, estimate bool
	}{
		{"ui.defaultView=timeline", "ls", true, true},
		{"ui.defaultView=list", "ls", false, true},
		{"ui.showTokenEstimates=no", "ls", true, false},
		{"ui.showTokenEstimates=yes", "versions aaaa0001", false, true},
		{"ui.showTokenEstimates=no", "versions aaaa0001", false, false},
	} {
		w.out.Reset()
		if w.run(append([]string{"-p", "w", "-c", tt.set}, strings.Fields(tt.args)...)...) != 0 {
			t.Fatalf("%+v: %s", tt, w.err.String())
		}
		out := w.out.String()
		months := strings.Contains(out, "January 2026\n") && strings.Contains(out, "December 2025\n")
		estimate := strings.Contains(out, "TOKENS") && strings.Contains(out, "~")
		if months != tt.months || estimate != tt.estimate || !strings.Contains(out, "aaaa0001") && !strings.Contains(out, "v001") {
			t.Errorf("%+v: %s", tt, out)
		}
	}
}

func TestConfirm(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		typed    string
		yes, tty bool
		want     bool
		fine     bool
	}{
		{"y\n", false, true, true, true}, {"Yes\n", false, true, true, true}, {"\n", false, true, false, true},
		{"", false, true, false, true}, {"n\n", false, true, false, true}, {"", true, false, true, true}, {"y\n", false, false, false, false},
	} {
		w := newWorld(t, tt.tty)
		w.Env.Stdin, w.Env.Opt.Yes = strings.NewReader(tt.typed), tt.yes
		got, err := w.Env.Confirm("remove %s?", "abc1")
		if got != tt.want || (err == nil) != tt.fine {
			t.Errorf("%+v: %v, %v", tt, got, err)
		}
		if err != nil && (app.StatusOf(err) != app.ExitUsage || !strings.Contains(app.HintsOf(err)[0], "--yes")) {
			t.Errorf("%v with %q", err, app.HintsOf(err))
		}
	}
	w := newWorld(t, false)
	if w.run("config", "set", "ui.confirmDestructiveActions", "false") != 0 {
		t.Fatal(w.err.String())
	}
	if ok, err := w.Env.Confirm("remove?"); !ok || err != nil {
		t.Errorf("with the setting off: %v, %v", ok, err)
	}
}

// On a terminal rm asks, unless the setting or --yes answers; a script is not asked.
func TestRemoveAsks(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		terminal bool
		typed    string
		args     []string
		asked    bool
		removed  bool
	}{
		{true, "n\n", nil, true, false},
		{true, "y\n", nil, true, true},
		{true, "n\n", []string{"--yes"}, false, true},
		{true, "n\n", []string{"-c", "ui.confirmDestructiveActions=false"}, false, true},
		{true, "y\n", []string{"-n"}, false, false},
		{false, "", nil, false, true},
	} {
		w := newWorld(t, tt.terminal)
		w.Env.Rand, w.Env.Environ = rand.Reader, func() []string { return nil }
		w.vars["NO_COLOR"], w.vars["PAGER"] = "1", ""
		line := `{"type":"user","sessionId":"aaaa0001","cwd":"/w","timestamp":"2026-01-15T09:00:00Z","message":{"role":"user","content":"Keep the prices."}}` + "\n"
		must(t, os.WriteFile(filepath.Join(w.Env.Dir, "aaaa0001.jsonl"), []byte(line), 0o600))
		for _, args := range [][]string{{"init", "-q"}, {"add", "-q", "aaaa0001.jsonl"}} {
			if w.run(args...) != 0 {
				t.Fatal(w.err.String())
			}
		}
		w.err.Reset()
		w.Env.Stdin = strings.NewReader(tt.typed)
		if w.run(append(tt.args, "-p", "w", "rm", "aaaa0001")...) != 0 {
			t.Fatalf("%+v: %s", tt, w.err.String())
		}
		if asked := strings.Contains(w.err.String(), "hide session aaaa0001? [y/N]"); asked != tt.asked {
			t.Errorf("%+v: asked %v: %s", tt, asked, w.err.String())
		}
		w.out.Reset()
		w.run("-p", "w", "ls", "--json")
		if removed := !strings.Contains(w.out.String(), "aaaa0001"); removed != tt.removed {
			t.Errorf("%+v: removed %v: %s", tt, removed, w.out.String())
		}
	}
}

func TestReportIsOneLine(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false)
	err := app.WithHint(errors.Join(errors.New("first \x1b[31mred"), errors.New("second\u202e")), "mem \x1b]0;x\x07fsck")
	if code := report(&w.Env, fmt.Errorf("wrapped: %w", err)); code != app.ExitFatal {
		t.Errorf("status %d", code)
	}
	want := "error: wrapped: first red; second‹U+202E›\nhint: mem fsck\n"
	if got := w.err.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestClosedStdout checks that a closed reader is no failure, and that a full disk is one.
func TestClosedStdout(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err  error
		want int
	}{{syscall.EPIPE, 0}, {io.ErrClosedPipe, 0}, {syscall.ENOSPC, app.ExitFatal}} {
		w := newWorld(t, false)
		w.Env.Stdout = brokenWriter{tt.err}
		if code := w.run("help", "exit-codes"); code != tt.want {
			t.Errorf("%v: status %d, want %d", tt.err, code, tt.want)
		}
		if (w.err.Len() == 0) != (tt.want == 0) {
			t.Errorf("%v: stderr %q", tt.err, w.err.String())
		}
		w.err.Reset()
		if code := w.run("vesrion"); code != app.ExitUsage {
			t.Errorf("%v: a usage error ends with %d", tt.err, code)
		}
	}
}

type brokenWriter struct{ err error }

func (b brokenWriter) Write([]byte) (int, error) {
	return 0, &os.PathError{Op: "write", Path: "/dev/stdout", Err: b.err}
}

// TestPager runs a real program as the pager: one that reads all, one that leaves early, one that is not there.
func TestPager(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("SKIPPED: no sh")
	}
	for _, tt := range []struct {
		pager  string
		status int
		out    string
	}{
		{"sed s/^/P/", 0, "Pexit statuses"}, {"head -n 1", 0, "exit statuses"}, {"true", 0, ""}, {"/no/such/pager", 128, ""},
	} {
		w := newWorld(t, true)
		w.vars["MEM_PAGER"] = tt.pager
		code := w.run("help", "exit-codes")
		if code != tt.status || !strings.HasPrefix(w.out.String(), tt.out) {
			t.Errorf("%s: status %d, out %q, err %q", tt.pager, code, w.out.String(), w.err.String())
		}
	}
}

// Every command sanitises text of a transcript for a terminal; a file or a pipe gets the exact bytes.
func TestContentOnATerminal(t *testing.T) {
	t.Parallel()
	const hostile = "\u202egpj.exe \u009b31mred \x7f"
	run := func(terminal bool, args ...string) string {
		w := newWorld(t, terminal)
		w.Env.Rand, w.Env.Environ = rand.Reader, func() []string { return nil }
		w.vars["NO_COLOR"], w.vars["PAGER"] = "1", ""
		file := filepath.Join(w.Dir, "s1234567.jsonl")
		line := `{"type":"user","uuid":"u1","timestamp":"2026-01-15T10:00:00Z","cwd":"/home/dev/shop","message":{"role":"user","content":"` + hostile + `"}}` + "\n"
		if err := os.WriteFile(file, []byte(line), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"init", "-q"}, {"add", "-q", file}, append([]string{"-p", "shop"}, args...)} {
			w.out.Reset()
			if code := w.run(args...); code != 0 {
				t.Fatalf("mem %q: %d: %s", args, code, w.err.String())
			}
		}
		return w.out.String()
	}
	for _, args := range [][]string{
		{"checkout", "@", "-o", "-"}, {"checkout", "@", "-o", "/dev/stdout"}, {"show", "@"}, {"show", "@:original"}, {"show", "@", "--format", "jsonl"}, {"show", "@#1"},
		{"show", "@:L1"}, {"show", "@", "--json"}, {"show", "--manifest"}, {"cat-file", "@:original"}, {"ls"}, {"ls", "--json"},
	} {
		if out := run(true, args...); out == "" || strings.ContainsAny(out, "\u202e\u009b\x7f\x1b") {
			t.Errorf("mem %q prints to a terminal: %q", args, out)
		}
	}
	for _, args := range [][]string{{"checkout", "@", "-o", "-"}, {"show", "@", "--format", "jsonl"}, {"cat-file", "@:original"}} {
		if out := run(false, args...); !strings.Contains(out, hostile) {
			t.Errorf("mem %q prints to a pipe: %q", args, out)
		}
	}
	if out := run(true, "show", "@", "--format", "jsonl", "--raw"); !strings.Contains(out, hostile) {
		t.Errorf("--raw prints %q", out)
	}
}

// TestTablesFitNarrowTerminals prints the tables of a store on terminals of 40 to 120 columns: no line is wider.
func TestTablesFitNarrowTerminals(t *testing.T) {
	t.Parallel()
	store := copyStoreV1(t)
	for _, wide := range []int{40, 60, 80, 120} {
		for _, line := range []string{
			"ls --all-projects", "ls --compositions --all-projects", "log --all-projects", "log --undo", "keepit list --all-projects",
			"project list", "device list", "facts list --all-projects", "concepts list --all-projects", "rules list --all-projects",
			"stats --all-projects", "config list", "status --layers", "tier", "suggest -p shop",
		} {
			var out, errs bytes.Buffer
			env := testEnv(t, store, &out, &errs)
			env.Term = app.Term{Stdout: true, Width: func() int { return wide }}
			if code := run(t.Context(), env, append([]string{"--no-pager", "--color=never"}, strings.Fields(line)...)); code != app.ExitDone {
				t.Errorf("mem %s: exit status %d: %s", line, code, errs.String())
			}
			for text := range strings.Lines(out.String()) {
				if got := displaywidth.String(strings.TrimSuffix(text, "\n")); got > wide && strings.Contains(text, "  ") {
					t.Errorf("mem %s on %d columns prints %d: %s", line, wide, got, text)
				}
			}
		}
	}
}

// TestHiddenIsMarked checks that a narrow terminal keeps the mark of a hidden version.
func TestHiddenIsMarked(t *testing.T) {
	t.Parallel()
	store := copyStoreV1(t)
	for _, line := range []string{"rm -f 6ecd:v001 -p shop", "versions 6ecd -a -p shop"} {
		var out, errs bytes.Buffer
		env := testEnv(t, store, &out, &errs)
		env.Term = app.Term{Stdout: true, Width: func() int { return 60 }}
		if code := run(t.Context(), env, append([]string{"--no-pager", "--color=never"}, strings.Fields(line)...)); code != app.ExitDone {
			t.Fatalf("mem %s: exit status %d: %s", line, code, errs.String())
		}
		if text := out.String() + errs.String(); !strings.Contains(text, "hidden") {
			t.Errorf("mem %s does not say that the version is hidden:\n%s", line, text)
		}
	}
}

// TestSuggestedAges checks that suggestions without a file or topic show people ages instead of scores near zero.
func TestSuggestedAges(t *testing.T) {
	t.Parallel()
	store := copyStoreV1(t)
	for _, tt := range []struct{ line, head, first string }{
		{"suggest -p shop", "REVISION       WHEN", "months ago"},
		{"suggest -p shop price", "REVISION       SCORE", "  0.6"},
	} {
		var out, errs bytes.Buffer
		env := testEnv(t, store, &out, &errs)
		env.Term = app.Term{Stdout: true, Width: func() int { return 80 }}
		if code := run(t.Context(), env, append([]string{"--color=never"}, strings.Fields(tt.line)...)); code != app.ExitDone {
			t.Errorf("mem %s: exit status %d: %s", tt.line, code, errs.String())
		}
		head, rows, _ := strings.Cut(out.String(), "\n")
		if !strings.HasPrefix(head, tt.head) || !strings.Contains(rows, tt.first) || strings.Contains(rows, "  0.00") {
			t.Errorf("mem %s prints\n%swant %s ... %s", tt.line, out.String(), tt.head, tt.first)
		}
	}
}

// TestWidths checks that lines fit a terminal of 80 columns, or 70, and, in lists of several projects, name the project.
func TestWidths(t *testing.T) {
	t.Parallel()
	store := copyStoreV1(t)
	colours := regexp.MustCompile("\x1b\\[[0-9;]*m")
	for _, tt := range []struct{ line, want string }{
		{"search -p shop -n 0 price", "in 1 session"},
		{"search --all-projects --by file price", "order.go"},
		{"why 6ecd --color=always", "6ecd8c99"},
		{"why 6ecd:v001", "`- session  6ecd8c99"},
		{"why 6ecd --down", "session  6ecd8c99"},
		{"ls --all-projects", "PROJECT"},
		{"log --all-projects", "PROJECT"},
		{"log --all-projects --oneline", " shop: "},
		{"log --all-projects --graph", " shop: "},
		{"log --project shop --oneline", "add 6 sessions"},
		{"log --project shop --stat", "messages"},
		{"status -p shop", ",\nnewest "},
	} {
		width := 80
		if strings.HasPrefix(tt.line, "status") {
			width = 70
		}
		var out, errs bytes.Buffer
		env := testEnv(t, store, &out, &errs)
		env.Term = app.Term{Stdout: true, Width: func() int { return width }}
		words := append([]string{"--color=never"}, strings.Fields(tt.line)...)
		if code := run(t.Context(), env, words); code != app.ExitDone {
			t.Errorf("mem %s: exit status %d: %s", tt.line, code, errs.String())
		}
		if !strings.Contains(out.String()+errs.String(), tt.want) {
			t.Errorf("mem %s prints\n%s%swant %q", tt.line, out.String(), errs.String(), tt.want)
		}
		for line := range strings.Lines(out.String()) {
			if n := app.Columns(colours.ReplaceAllString(strings.TrimSuffix(line, "\n"), "")); n > width {
				t.Errorf("mem %s prints a line of %d columns: %s", tt.line, n, line)
			}
		}
	}
}

// TestUsageWidths checks that each column of the usage is there on any terminal, and in full in a pipe.
func TestUsageWidths(t *testing.T) {
	t.Parallel()
	store, file := t.TempDir(), filepath.Join(t.TempDir(), "aaaa1111-0000-4000-8000-000000000001.jsonl")
	var lines strings.Builder
	for i, model := range []string{"claude-opus-4-5-20251101", "claude-sonnet-4-5-20250929"} {
		fmt.Fprintf(&lines, `{"type":"user","sessionId":"aaaa1111-0000-4000-8000-000000000001","uuid":"u%d","cwd":"/home/dev/shop","timestamp":"2026-01-15T1%d:00:00Z","message":{"role":"user","content":"Where do the prices of the shop live, and who reads them?"}}
{"type":"assistant","sessionId":"aaaa1111-0000-4000-8000-000000000001","uuid":"a%[1]d","timestamp":"2026-01-15T1%[2]d:00:01Z","message":{"id":"msg_%[1]d","role":"assistant","model":%[3]q,"content":[{"type":"text","text":"In a table."}],"usage":{"input_tokens":14114157,"output_tokens":374551,"cache_creation_input_tokens":920965132,"cache_read_input_tokens":9446957852}}}
`, i, i, model)
	}
	must(t, os.WriteFile(file, []byte(lines.String()), 0o600))
	mem := func(term app.Term, words ...string) string {
		var out, errs bytes.Buffer
		env := testEnv(t, store, &out, &errs)
		env.Term = term
		if code := run(t.Context(), env, append([]string{"--color=never"}, words...)); code != app.ExitDone {
			t.Fatalf("mem %s: exit status %d: %s", words, code, errs.String())
		}
		return out.String()
	}
	mem(app.Term{}, "init")
	mem(app.Term{}, "add", file)
	for _, by := range []string{"session", "day", "model", "project"} {
		for _, width := range []int{80, 100, 200} {
			got := mem(app.Term{Stdout: true, Width: func() int { return width }}, "stats", "--usage", "--by", by, "-p", "shop")
			for _, want := range []string{"ANSWERS  ", "INPUT  ", "OUTPUT  ", "WRITTEN  ", "READ  ", "COST\n", "M  $"} {
				if !strings.Contains(got, want) {
					t.Errorf("mem stats --usage --by %s in %d columns prints\n%swant %q", by, width, got, want)
				}
			}
			for line := range strings.Lines(got) {
				if n := app.Columns(strings.TrimSuffix(line, "\n")); n > width || strings.Contains(line, "…") && by != "session" && by != "model" {
					t.Errorf("mem stats --usage --by %s in %d columns prints a line of %d: %s", by, width, n, line)
				}
			}
		}
		if got := mem(app.Term{}, "stats", "--usage", "--by", by, "-p", "shop"); !strings.Contains(got, "\t920965132\t9446957852\t$") &&
			!strings.Contains(got, "\t1841930264\t18893915704\t$") {
			t.Errorf("mem stats --usage --by %s in a pipe prints %q", by, got)
		}
	}
}

// TestTrustAsks trusts a device on a terminal: the question shows whose data waits, with the whole fingerprint, and so
// does the list.
func TestTrustAsks(t *testing.T) {
	t.Parallel()
	hub := filepath.Join(t.TempDir(), "hub.git")
	for name, text := range map[string]string{"HEAD": "ref: refs/heads/main\n", "config": "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"} {
		if err := errors.Join(os.MkdirAll(filepath.Join(hub, "objects", "info"), 0o700), os.MkdirAll(filepath.Join(hub, "objects", "pack"), 0o700),
			os.MkdirAll(filepath.Join(hub, "refs", "heads"), 0o700), os.WriteFile(filepath.Join(hub, name), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	store, cloned := copyStoreV1(t), filepath.Join(t.TempDir(), "clone")
	mem := func(store, typed string, terminal bool, args ...string) (string, int) {
		var out bytes.Buffer
		env := testEnv(t, store, &out, &out)
		env.Stdin = strings.NewReader(typed)
		env.Term = app.Term{Stdin: terminal, Stdout: terminal, Stderr: terminal, Width: func() int { return 60 }}
		code := run(t.Context(), env, append([]string{"--color=never"}, args...))
		return out.String(), code
	}
	for _, args := range [][]string{{"remote", "add", "origin", hub}, {"push", "--all", "--yes"}} {
		if out, code := mem(store, "", false, args...); code != 0 {
			t.Fatal(args, out)
		}
	}
	out, code := mem(cloned, "", false, "clone", hub, "--device", "desk")
	print := regexp.MustCompile(`SHA256:\S{43}`).FindString(out)
	if code != 0 || print == "" {
		t.Fatal(out)
	}
	if out, code := mem(cloned, "", false, "device", "rename", regexp.MustCompile(`new device (\S+)`).FindStringSubmatch(out)[1],
		"old"); code != 0 {
		t.Fatal(out)
	}
	if out, _ := mem(cloned, "", true, "device", "list"); !strings.Contains(out, print) || !strings.Contains(out, "calls itself ") {
		t.Errorf("mem device list at 60 columns prints\n%swant %s whole, and the device's name for itself", out, print)
	}
	for _, tt := range []struct {
		typed string
		args  []string
		want  []string
	}{
		{"n\n", nil, []string{print, "old, calls itself ", " sessions in ", "trust device old? [y/N]", "nothing changed"}},
		{"", nil, []string{"nothing changed"}},
		{"", []string{"-n"}, []string{"would be trusted"}},
		{"y\n", nil, []string{print, "is trusted"}},
		{"", nil, []string{"is trusted"}}, // already
	} {
		out, _ := mem(cloned, tt.typed, true, append([]string{"device", "trust", "old"}, tt.args...)...)
		for _, want := range tt.want {
			if !strings.Contains(out, want) {
				t.Errorf("mem device trust old %v, answered %q, prints\n%swant %q", tt.args, tt.typed, out, want)
			}
		}
	}
	if out, code := mem(cloned, "", true, "device", "trust", "old", "-y"); code != 0 || strings.Contains(out, "[y/N]") {
		t.Errorf("mem device trust -y exits with %d and prints\n%s", code, out)
	}
}

func TestPagerChoice(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ vars, setting, option, want string }{
		{"MEM_PAGER=a PAGER=c", "b", "", "a"}, {"PAGER=c", "b", "", "b"}, {"PAGER=c", "", "", "c"},
		{"PAGER=cat", "", "", ""}, {"MEM_PAGER=cat PAGER=c", "", "", ""}, {"PAGER=c", "", "--no-pager", ""}, {"PAGER=c TERM=dumb", "", "", ""},
	} {
		w := newWorld(t, true)
		for _, kv := range strings.Fields(tt.vars) {
			k, v, _ := strings.Cut(kv, "=")
			w.vars[k] = v
		}
		w.Env.Opt.NoPager = tt.option != ""
		if tt.setting != "" {
			w.Env.Opt.Set = []string{"core.pager=" + tt.setting}
		}
		if got := w.Env.PagerProgram("log"); got != tt.want {
			t.Errorf("%+v: %q", tt, got)
		}
	}
	w := newWorld(t, true)
	w.vars["PAGER"] = "c"
	if w.run("config", "set", "pager.log", "no") != 0 {
		t.Fatal(w.err.String())
	}
	for name, want := range map[string]string{"log": "", "show": "c"} {
		if got := w.Env.PagerProgram(name); got != want {
			t.Errorf("pager of %s = %q", name, got)
		}
	}
}
