package forget_test

import (
	"context"
	"io"
	"iter"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/forget"
	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/layers/repair"
	"github.com/memvcs/mem/layers/secrets"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
)

// TestCleanLane stores a session without rules, with an overflow file, a growth that is torn and what was derived, and then takes the
// secrets out: nothing that can be fetched holds them, the exact bytes of every growth point come back, and the session goes on
// growing.
func TestCleanLane(t *testing.T) {
	layerstest.SkipShort(t)
	t.Parallel()
	ctx := context.Background()
	rules, err := redact.New(redact.Config{})
	if err != nil {
		t.Fatal(err)
	}
	m := layerstest.NewMemory(t, layerstest.TestOptions())
	dir := t.TempDir()
	secret := "ghp_4kTz9QmWv2XyB7nLc5RdH8sJf3PgA6uE1oKi"
	text, overflow := layerstest.Secretive(secret)
	file := layerstest.Write(t, filepath.Join(dir, "tool.txt"), overflow).Path
	path := filepath.Join(dir, "s1.jsonl")
	lines := strings.SplitAfter(text, "\n")
	var want []string
	stages := []string{layerstest.UserLine(900, "first, without any"), strings.Join(lines[:1], ""), strings.Join(lines[:20], ""), strings.Join(lines, "")}
	for i, part := range stages[1:] {
		part = stages[0] + part
		if i == 1 {
			part += `{"type":"user","torn ` + secret
		}
		src := layerstest.Write(t, path, part)
		src.Files = []string{file}
		layerstest.Add(t, m, src)
		want = append(want, part)
	}
	other := layerstest.Add(t, m, layerstest.Write(t, filepath.Join(dir, "s2.jsonl"), layerstest.UserLine(1, "nothing to hide")))[0]
	p := other.Project.ID
	st, err := trust.State(ctx, m.DB, p)
	if err != nil {
		t.Fatal(err)
	}
	rev := state.Rev{Kind: state.IsSession, Project: other.Project, Session: st.Session("s1"), Hash: st.Session("s1").Now().Original}
	if _, err := derive.Compress(ctx, m.DB, rev, planning.Settings{Ratio: 2}, false); err != nil {
		t.Fatal(err)
	}
	m.Opts.Rules = rules
	done, err := forget.CleanLane(ctx, m.DB, p)
	if err != nil || done.Sessions != 1 || done.Objects < 2 || done.Records < 4 {
		t.Fatalf("CleanLane = %+v, %v", done, err)
	}
	if leaks, err := secrets.ScanOutgoing(ctx, m.DB, p, layerstest.Never); err != nil || len(leaks) > 0 {
		t.Errorf("leaks %v, %v", leaks, err)
	}
	layerstest.CheckClean(t, m)
	if c, err := repair.Check(ctx, m.DB, true); err != nil || len(c.Problems) > 0 {
		t.Errorf("check: %v, %v", c.Problems, err)
	}
	got := layerstest.Restored(t, m, p, "s1")
	for i := range want {
		if i >= len(got) || string(got[i]) != want[i] {
			t.Fatalf("growth point %d does not come back", i)
		}
	}
	st, err = trust.State(ctx, m.DB, p)
	if err != nil {
		t.Fatal(err)
	}
	s := st.Session("s1")
	var b strings.Builder
	if err := capture.WriteFile(ctx, m.DB, capture.SessionPoint{Project: p, Session: s, Point: s.Now()}, s.Now().Files[0], &b); err != nil || b.String() != overflow {
		t.Errorf("the overflow file is %q, %v", b.String(), err)
	}
	if now := st.Session("s2").Now(); now.Original != other.Now.Original || now.Stamp.Record != other.ID {
		t.Error("a session without secrets has other names")
	}
	layerstest.NoBytes(t, filepath.Join(m.Refs.Dir(), "memory.git"), secret) // not even what no branch leads to
	mirror := filepath.Join(t.TempDir(), "mirror.git")
	if out, err := exec.Command("git", "clone", "-q", "--mirror", "file://"+filepath.Join(m.Refs.Dir(), "memory.git"), mirror).CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: no git: %v %s", err, out)
	}
	layerstest.NoBytes(t, mirror, secret)
	src := layerstest.Write(t, path, want[2]+layerstest.UserLine(50, "later "+secret))
	src.Files = []string{file}
	if a := layerstest.Add(t, m, src)[0]; a.Change != "grown" {
		t.Errorf("added again: %s", a.Change)
	}
	if again, err := forget.CleanLane(ctx, m.DB, p); err != nil || again != (forget.Cleaned{}) {
		t.Errorf("cleaned twice: %+v, %v", again, err)
	}
	got = layerstest.Restored(t, m, p, "s1")
	if string(got[len(got)-1]) != want[2]+layerstest.UserLine(50, "later "+secret) {
		t.Error("what was added then does not come back")
	}
}

// TestNewRules gives a memory rules that find something in the middle of a session. Until then its growth points are what they were, by
// name and by segment; from there on they are made anew. What was found before keeps its number.
func TestNewRules(t *testing.T) {
	layerstest.SkipShort(t)
	t.Parallel()
	ctx := context.Background()
	with := func(regexps ...string) redact.Rules {
		var c redact.Config
		for _, r := range regexps {
			c.Custom = append(c.Custom, redact.Custom{Name: strings.ToLower(r[:4]), Regexp: r})
		}
		rules, err := redact.New(c)
		if err != nil {
			t.Fatal(err)
		}
		return rules
	}
	o := layerstest.TestOptions()
	o.Rules = with("CODE-[0-9]{6}")
	m := layerstest.NewMemory(t, o)
	path := filepath.Join(t.TempDir(), "s1.jsonl")
	var text, all []string
	for i, words := range []string{"CODE-918273 first", "nothing", "still nothing", "PASS-564738 is new", "CODE-918273 again, and CODE-102938", "end"} {
		text = append(text, layerstest.UserLine(i, words))
		all = append(all, strings.Join(text, ""))
		layerstest.Add(t, m, layerstest.Write(t, path, all[i]))
	}
	p := layerstest.RevOf(t, m, "s1").Project.ID
	was := layerstest.RevOf(t, m, "s1").Session.Points
	m.Opts.Rules = with("CODE-[0-9]{6}", "PASS-[0-9]{6}")
	if done, err := forget.CleanLane(ctx, m.DB, p); err != nil || done.Sessions != 1 {
		t.Fatalf("CleanLane = %+v, %v", done, err)
	}
	now := layerstest.RevOf(t, m, "s1").Session.Points
	if len(now) != len(was) {
		t.Fatalf("%d growth points, want %d", len(now), len(was))
	}
	for i := range was {
		if same, want := now[i].Original == was[i].Original, i < 3; same != want {
			t.Errorf("growth point %d has its name: %t, want %t", i, same, want)
		}
	}
	var b strings.Builder
	if err := m.Refs.View(ctx, p, func(tx *refs.Tx) error {
		r, err := tx.Get(ctx, now[len(now)-1].Original)
		if err != nil {
			return err
		}
		defer r.Close()
		_, err = io.Copy(&b, r)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"‹secret:code:1› first", "‹secret:pass:3› is new", "‹secret:code:1› again, and ‹secret:code:2›"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in %s", want, b.String())
		}
	}
	got := layerstest.Restored(t, m, p, "s1")
	for i := range all {
		if string(got[i]) != all[i] {
			t.Errorf("growth point %d does not come back", i)
		}
	}
	layerstest.Roots(t, m)
}

// TestCleanLaneFiles cleans lanes in which the record of an overflow file changes and the file does not, or both do. The patch of
// a file stands with the snapshot that captured it, and is looked for by the name of that record and of the file.
func TestCleanLaneFiles(t *testing.T) {
	layerstest.SkipShort(t)
	t.Parallel()
	newer := layerstest.ToyRules()
	older := newer.Rules[0]
	newer.ID = "newer"
	re := regexp.MustCompile(`BADGE-[0-9]{6}`)
	newer.Rules = []redact.Rule{older, func(v []byte) iter.Seq[redact.Finding] {
		return func(yield func(redact.Finding) bool) {
			for _, at := range re.FindAllIndex(v, -1) {
				if !yield(redact.Finding{Start: at[0], End: at[1], Rule: "badge"}) {
					return
				}
			}
		}
	}}
	for _, c := range []struct{ about, words, name, file string }{
		{"a new rule cuts the transcript", "my BADGE-482913 opens it", "a.txt", "and TOKEN_12345678\n"},
		{"a new rule cuts the name of the file", "nothing", "BADGE-482913.txt", "and TOKEN_12345678\n"},
		{"a new rule cuts the name of a file that was exact", "nothing", "BADGE-482913.txt", "exact\n"},
		{"a new rule cuts the file", "nothing", "a.txt", "TOKEN_12345678 and BADGE-591827\n"},
		{"a new rule cuts the file and its name", "nothing", "BADGE-482913.txt", "TOKEN_12345678 and BADGE-591827\n"},
		{"a new rule cuts all of them", "my BADGE-111111 opens it", "BADGE-482913.txt", "TOKEN_12345678 and BADGE-591827\n"},
	} {
		t.Run(c.about, func(t *testing.T) {
			t.Parallel()
			o := layerstest.TestOptions()
			o.Rules = layerstest.ToyRules()
			m := layerstest.NewMemory(t, o)
			dir := t.TempDir()
			path := filepath.Join(dir, "s1.jsonl")
			text := layerstest.UserLine(1, c.words)
			store := func(files ...string) {
				src := layerstest.Write(t, path, text)
				src.Files = files
				layerstest.Add(t, m, src)
				text += layerstest.UserLine(len(text), "more")
			}
			file := layerstest.Write(t, filepath.Join(dir, c.name), c.file).Path
			store(file)
			store(file) // its patch stands with the record before this one
			store(file, layerstest.Write(t, filepath.Join(dir, "0-BADGE-000001.txt"), "TOKEN_87654321").Path)
			p := layerstest.RevOf(t, m, "s1").Project.ID
			m.Opts.Rules = newer
			if done, err := forget.CleanLane(t.Context(), m.DB, p); err != nil || done == (forget.Cleaned{}) {
				t.Fatalf("CleanLane = %+v, %v", done, err)
			}
			if leaks, err := secrets.ScanOutgoing(t.Context(), m.DB, p, layerstest.Never); err != nil || len(leaks) > 0 {
				t.Errorf("leaks %v, %v", leaks, err)
			}
			s := layerstest.RevOf(t, m, "s1").Session
			for i := range s.Points {
				f := s.Points[i].Files[len(s.Points[i].Files)-1]
				var b strings.Builder
				if err := capture.WriteFile(t.Context(), m.DB, capture.SessionPoint{Project: p, Session: s, Point: &s.Points[i]}, f, &b); err != nil || b.String() != c.file {
					t.Errorf("growth point %d: the file is %q, %v; want %q", i, b.String(), err, c.file)
				}
			}
			if c, err := repair.Check(t.Context(), m.DB, true); err != nil || len(c.Problems) > 0 {
				t.Errorf("check: %v, %v", c.Problems, err)
			}
		})
	}
}

// TestCleanShortSession cleans a session of one message whose secret looks like a name that mem generates.
func TestCleanShortSession(t *testing.T) {
	t.Parallel()
	m := layerstest.NewMemory(t, layerstest.TestOptions())
	secret := "deadbeef" + strings.Repeat("0f", 16)
	path := filepath.Join(t.TempDir(), "s1.jsonl")
	p := layerstest.Add(t, m, layerstest.Write(t, path, layerstest.UserLine(1, secret)))[0].Project.ID
	rules, err := redact.New(redact.Config{Custom: []redact.Custom{{Name: "beef", Regexp: "deadbeef[0-9a-f]{32}"}}})
	if err != nil {
		t.Fatal(err)
	}
	m.Opts.Rules = rules
	leaks, err := secrets.ScanOutgoing(t.Context(), m.DB, p, layerstest.Never)
	if err != nil || len(leaks) == 0 {
		t.Fatalf("ScanOutgoing = %v, %v; want a leak", leaks, err)
	}
	if done, err := forget.CleanLane(t.Context(), m.DB, p); err != nil || done.Sessions != 1 {
		t.Errorf("CleanLane = %+v, %v; want one session", done, err)
	}
	if leaks, err = secrets.ScanOutgoing(t.Context(), m.DB, p, layerstest.Never); err != nil || len(leaks) > 0 {
		t.Errorf("ScanOutgoing = %v, %v; want none", leaks, err)
	}
}
