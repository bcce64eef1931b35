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
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/config"
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

func TestColored(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		option, ui, vars string
		tty, want        bool
	}{
		{"", "auto", "", true, true},
		{"", "auto", "", false, false},
		{"", "auto", "TERM=dumb", true, false},
		{"", "auto", "CLICOLOR=0", true, false},
		{"", "always", "CLICOLOR=0", false, true},
		{"", "never", "", true, false},
		{"", "never", "FORCE_COLOR=1", false, true},
		{"", "never", "CLICOLOR_FORCE=1", false, true},
		{"", "auto", "CLICOLOR_FORCE=0", false, false},
		{"", "auto", "FORCE_COLOR=false", false, false},
		{"", "always", "NO_COLOR=yes", true, false},
		{"", "auto", "NO_COLOR=1 FORCE_COLOR=1", true, false},
		{"always", "never", "NO_COLOR=1", false, true},
		{"never", "always", "FORCE_COLOR=1", true, false},
		{"auto", "always", "NO_COLOR=1", true, true},
		{"auto", "always", "FORCE_COLOR=1", false, false},
	} {
		vars := map[string]string{}
		for _, kv := range strings.Fields(tt.vars) {
			k, v, _ := strings.Cut(kv, "=")
			vars[k] = v
		}
		if got := app.Colored(tt.option, tt.ui, func(k string) string { return vars[k] }, tt.tty); got != tt.want {
			t.Errorf("colored(%q, %q, %s, %v) = %v, want %v", tt.option, tt.ui, tt.vars, tt.tty, got, tt.want)
		}
	}
}

func sampleTable(e *app.Env) *app.Table {
	tab := e.Table(app.Column{Name: "id"}, app.Column{Name: "tokens", Right: true}, app.Column{Name: "title", Shrinks: true}, app.Column{Name: "state"})
	tab.Row(app.IdCell("0123456789abcdef", 4), app.Cell{Full: "100234", Short: "100.2k"}, app.Cell{Full: "데이터 계층을 설계한다, and a long rest of it"}, app.Cell{Full: "ok"})
	tab.Row(app.IdCell("abcd", 4), app.Cell{Full: "9"}, app.Cell{Full: "tab\tand\nnewline \x1b[31mred\u202e"}, app.Cell{Full: "changed"})
	return tab
}

func TestTablePiped(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false)
	if err := sampleTable(&w.Env).Flush(); err != nil {
		t.Fatal(err)
	}
	if err := w.Env.Out.Close(); err != nil {
		t.Fatal(err)
	}
	want := "0123456789abcdef\t100234\t데이터 계층을 설계한다, and a long rest of it\tok\n" +
		"abcd\t9\ttab and newline red‹U+202E›\tchanged\n"
	if got := w.out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestTableOnATerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t, true)
	w.vars["NO_COLOR"] = "1"
	if err := sampleTable(&w.Env).Flush(); err != nil {
		t.Fatal(err)
	}
	want := "" +
		"ID        TOKENS  TITLE                              STATE\n" +
		"01234567  100.2k  데이터 계층을 설계한다, and a lo…  ok\n" +
		"abcd           9  tab and newline red‹U+202E›        changed\n"
	if got := w.out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	w = newWorld(t, true)
	w.Env.Term.Width = func() int { return 5 } // cannot be met; nothing breaks
	if err := sampleTable(&w.Env).Flush(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(w.out.String(), "\x1b[1m0123\x1b[0m\x1b[2m4567\x1b[0m") {
		t.Errorf("the unique prefix is not bold: %q", w.out.String())
	}
	w = newWorld(t, true)
	if err := w.Env.Table(app.Column{Name: "id"}).Flush(); err != nil || w.out.Len() > 0 {
		t.Errorf("an empty table prints %q, %v", w.out.String(), err)
	}
}

func TestProgress(t *testing.T) {
	t.Parallel()
	w := newWorld(t, true)
	var now time.Duration
	w.Env.Uptime = func() time.Duration { return now }
	p := w.Env.ProgressBytes("reading \x1b[31mx", 100e6)
	for range 4 {
		p.Add(10e6)
		now += 100 * time.Millisecond
	}
	if w.err.Len() > 0 {
		t.Errorf("drawn before half a second: %q", w.err.String())
	}
	now = time.Second
	p.Add(10e6)
	p.Add(1) // too soon to draw again
	want := "\rreading x  50.0 MB of 100.0 MB  [==========          ]  50%\x1b[K"
	if got := w.err.String(); !strings.HasPrefix(got, "\rreading x  50.0 MB of 100.0 MB  [==========          ]") || strings.Count(got, "\r") != 1 {
		t.Errorf("drew %q, want about %q", got, want)
	}
	p.End()
	if !strings.HasSuffix(w.err.String(), "\r\x1b[K") {
		t.Errorf("left on the screen: %q", w.err.String())
	}
	w.err.Reset()
	p.Add(1)
	if w.err.Len() > 0 {
		t.Errorf("drawn after the end: %q", w.err.String())
	}
	w.err.Reset()
	now = 0
	p = w.Env.ProgressBytes("fetching", 0)
	p.Idle = "waiting for the remote"
	now = 8 * time.Second
	p.Add(0)
	if got, want := w.err.String(), "\rfetching  waiting for the remote  0:08\x1b[K"; got != want {
		t.Errorf("drew %q, want %q", got, want)
	}
	for _, quiet := range []func(*world){
		func(w *world) { w.Env.Term.Stderr = false },
		func(w *world) { w.Env.Opt.Quiet = true },
		func(w *world) { w.Env.Opt.JSON = true },
		func(w *world) { w.vars["ACCESSIBLE"] = "1" },
	} {
		w := newWorld(t, true)
		quiet(w)
		p := w.Env.Progress("x", 3)
		p.Add(1)
		p.End()
		if p != nil || w.err.Len() > 0 {
			t.Errorf("progress where there should be none: %q", w.err.String())
		}
	}
}

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

func TestStatus(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{errors.New("x"), 128},
		{fmt.Errorf("a: %w", app.Usagef("x")), 129},
		{app.WithHint(app.WithCode(app.ExitBudget, errors.New("x")), "h"), 5},
		{app.WithCode(app.ExitPartial, app.WithHint(errors.New("x"), "h")), 3},
		{app.Exit(app.ExitNo), 1},
		{context.Canceled, 130},
		{fmt.Errorf("write: %w", app.ErrStdoutClosed), 0},
		{config.ErrLocked, 11},
		{fmt.Errorf("open: %w", refs.ErrNotRepo), 10},
		{refs.ErrLocked, 11},
		{refs.ErrFormat, 128},
		{&state.NotFoundError{}, 128},
		{&config.ValueError{}, 128},
	} {
		if got := app.StatusOf(tt.err); got != tt.want {
			t.Errorf("statusOf(%v) = %d, want %d", tt.err, got, tt.want)
		}
		if app.StatusOf(tt.err) == 2 {
			t.Errorf("statusOf(%v) is 2", tt.err)
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
		if got, err := w.Env.PagerProgram("log"); got != tt.want || err != nil {
			t.Errorf("%+v: %q, %v", tt, got, err)
		}
	}
	w := newWorld(t, true)
	w.vars["PAGER"] = "c"
	if w.run("config", "set", "pager.log", "no") != 0 {
		t.Fatal(w.err.String())
	}
	for name, want := range map[string]string{"log": "", "show": "c"} {
		if got, err := w.Env.PagerProgram(name); got != want || err != nil {
			t.Errorf("pager of %s = %q, %v", name, got, err)
		}
	}
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

func TestAgo(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 20, 14, 0, 0, 0, time.UTC)
	for d, want := range map[time.Duration]string{
		0: "0 seconds ago", 59 * time.Second: "59 seconds ago", time.Minute: "1 minute ago", 25 * time.Hour: "1 day ago",
		13 * 24 * time.Hour: "13 days ago", 15 * 24 * time.Hour: "2 weeks ago", 100 * 24 * time.Hour: "3 months ago",
		800 * 24 * time.Hour: "2 years ago", -time.Hour: "in the future",
	} {
		if got := app.Ago(now, now.Add(-d)); got != want {
			t.Errorf("ago(%v) = %q, want %q", d, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.0 kB", 18_200_000: "18.2 MB", 999_960: "1.0 MB", 5e12: "5.0 TB"} {
		if got := app.BytesText(n); got != want {
			t.Errorf("bytesText(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestPlaces(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false)
	home := w.vars["HOME"]
	abs := filepath.Join(t.TempDir(), "m")
	for _, tt := range []struct{ option, variable, want string }{
		{"", "", filepath.Join(home, ".claude-memory")}, {"", abs, abs}, {"o", "m", filepath.Join(w.Dir, "o")},
		{"", "~", home}, {"", "~/", home}, {"", "~/a/b", filepath.Join(home, "a", "b")}, {"~/o", abs, filepath.Join(home, "o")},
		{"./~", "", filepath.Join(w.Dir, "~")},
		{"", "m", ""}, {"", "./m", ""}, {"", "../m", ""}, {"", "~other/m", ""}, {"", "$HOME/m", ""}, {"~other", abs, ""},
	} {
		w.Env.Opt.MemDir, w.vars["MEM_DIR"] = tt.option, tt.variable
		got, err := w.Env.MemoryDir()
		if tt.want == "" {
			if code := app.StatusOf(err); err == nil || code != app.ExitUsage {
				t.Errorf("%+v: %q, %v, want a usage error", tt, got, err)
			}
			continue
		}
		if got != tt.want || err != nil {
			t.Errorf("%+v: %q, %v", tt, got, err)
		}
	}
	w.vars["CLAUDE_CONFIG_DIR"] = "~/c"
	if got, err := w.Env.ClaudeDir(); got != filepath.Join(home, "c") || err != nil {
		t.Errorf("claudeDir() = %q, %v", got, err)
	}
	w.vars["CLAUDE_CONFIG_DIR"] = ""
	if got, err := w.Env.ClaudeDir(); got != filepath.Join(home, ".claude") || err != nil {
		t.Errorf("claudeDir() = %q, %v", got, err)
	}
}

// TestJSONOnATerminal checks that an answer for eyes is indented and means the same, and that nothing in it
// reaches the terminal's controls.
func TestJSONOnATerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t, true)
	v := struct {
		Title string   `json:"title"`
		List  []string `json:"list"`
	}{"a\u202e<b>\u009b\U000e0041", []string{}}
	if err := w.Env.PrintJSON("test", v); err != nil {
		t.Fatal(err)
	}
	want := "{\n  \"schema\": \"mem.test/v1\",\n  \"title\": \"a\\u202e<b>\\u009b\\udb40\\udc41\",\n  \"list\": []\n}\n"
	if got := w.out.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := w.Env.PrintJSON("test", struct{}{}); err != nil {
		t.Error(err)
	}
	if err := w.Env.PrintJSON("test", 3); err == nil {
		t.Error("a number as an answer: no error")
	}
}

// TestIDCell checks that a list shows enough of an id to type it, and never half a letter.
func TestIDCell(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		id     string
		unique int
		short  string
		bold   int
	}{
		{"6ecd8c99-4036-403d-bf84-cf8400f67836", 4, "6ecd8c99", 4},
		{"6ecd8c99-4036-403d-bf84-cf8400f67836", 11, "6ecd8c99-40", 11},
		{"agent-a7c3e19ffff", 7, "agent-a7c3e19f", 7},
		{"agent-suggestion-77", 7, "agent-suggestion-77", 7},
		{"spä", 3, "spä", 4},
		{"블로그-sitzung", 4, "블로그-sitzung", 6},
		{"abc", 4, "abc", 4},
	} {
		if got := app.IdCell(tt.id, tt.unique); got.Short != tt.short || got.Bold != tt.bold || got.Full != tt.id {
			t.Errorf("idCell(%q, %d) = %+v, want %q with %d bold", tt.id, tt.unique, got, tt.short, tt.bold)
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
