package main_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// A refusal is a command that must fail in a certain way.
type refusal struct {
	name   string
	args   []string
	code   int
	stderr string // regular expression
}

func (r *rig) refuses(tt refusal) {
	r.t.Helper()
	res := r.kill(2*time.Minute, tt.args...) // that would be a hang
	if res.Code != tt.code || !regexp.MustCompile(tt.stderr).MatchString(res.Stderr) {
		r.t.Errorf("%s: want exit %d and %q, got %s", tt.name, tt.code, tt.stderr, res)
	}
	if !strings.Contains(res.Stderr, "error: ") || strings.Contains(res.Stderr, "goroutine ") {
		r.t.Errorf("%s: no clear error: %s", tt.name, res)
	}
}

// tortureBadInput gives mem invalid input.
func tortureBadInput(t *testing.T, r *rig) {
	one := NewGenerator(501, "/home/user/app")
	file := r.write("in/"+one.ID+".jsonl", one.More(30))
	r.ok("add", file)
	pin := NewGenerator(502, "/home/user/app")
	pin.Turns = 1
	text := fmt.Sprintf(`{"type":"user","uuid":"u1","parentUuid":null,"sessionId":%q,"cwd":"/home/user/app","timestamp":"2026-03-01T09:00:00.000Z","message":{"role":"user","content":"##keepit1.00## %s"}}`, pin.ID, strings.Repeat("never forget this decision. ", 400))
	r.ok("add", r.write("in/"+pin.ID+".jsonl", []byte(text+"\n"+string(pin.More(10)))))
	twins := []string{"abcdef00-0000-4000-a000-000000000001", "abcdef00-0000-4000-a000-000000000002"}
	for _, id := range twins {
		w := NewGenerator(503, "/home/user/app")
		w.ID = id
		r.ok("add", r.write("in/"+id+".jsonl", w.More(5)))
	}
	dir := filepath.Join(r.Home, "in")
	fifo, loop := filepath.Join(dir, "fifo.jsonl"), filepath.Join(dir, "loop.jsonl")
	if out, err := exec.Command("mkfifo", fifo).CombinedOutput(); err != nil {
		t.Fatalf("mkfifo: %v\n%s", err, out)
	}
	if err := os.Symlink("loop.jsonl", loop); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []refusal{
		{"not a transcript", []string{"add", r.write("in/notes.jsonl", []byte("# Notes\n\nJust text.\n"))}, 128, `notes\.jsonl`},
		{"binary", []string{"add", r.write("in/binary.jsonl", []byte("\x7fELF\x00\x01\x02\xff\xfe"))}, 128, `binary\.jsonl`},
		{"JSON of another kind", []string{"add", r.write("in/package.jsonl", []byte(`{"name":"x","version":"1"}`+"\n"))}, 128, `package\.jsonl`},
		{"empty file", []string{"add", r.write("in/empty.jsonl", nil)}, 128, `empty`},
		{"directory", []string{"add", dir}, 128, `directory`},
		{"FIFO", []string{"add", fifo}, 128, `fifo\.jsonl`},
		{"symlink loop", []string{"add", loop}, 128, `loop\.jsonl`},
		{"no such file", []string{"add", filepath.Join(dir, "none.jsonl")}, 128, `none\.jsonl`},
		{"device", []string{"add", "/dev/zero"}, 128, `/dev/zero`},
		{"no such session", []string{"show", "0123beef"}, 128, `0123beef`},
		{"no such version", []string{"show", one.ID + ":v009"}, 128, `v009`},
		{"no such object", []string{"cat-file", "b3:" + strings.Repeat("ab", 32)}, 128, `abab`},
		{"ambiguous prefix", []string{"show", "abcdef"}, 128, `(?s)abcdef.*` + twins[0] + `.*` + twins[1]},
		{"weight out of range", []string{"config", "set", "keepitDecay.pinnedWeight", "1.50"}, 129, `1\.50`},
		{"ratio 0 in a preview", []string{"keepit", "preview", one.ID, "--ratio", "0"}, 129, `ratio`},
		{"tier past the end", []string{"compress", one.ID, "--tier", "120:10:moderate"}, 129, `120`},
		{"tiers that go back", []string{"compress", one.ID, "--tier", "50:5:minimal", "--tier", "25:10:moderate"}, 129, `25:10`},
		{"ratio and tokens", []string{"compress", one.ID, "--ratio", "5", "--tokens", "3k"}, 129, `ratio`},
		{"nothing left", []string{"compress", one.ID, "--ratio", "5", "--skip", "9999"}, 128, `9999`},
		{"version of a version", []string{"compress", one.ID + ":L1", "--ratio", "5"}, 128, `session`},
		{"message 0", []string{"show", one.ID + "#0"}, 128, `\b0\b`},
		{"message past the end", []string{"show", one.ID + "#9999"}, 128, `\b9999\b`},
		{"ratio 0", []string{"compress", one.ID, "--ratio", "0"}, 129, `ratio`},
		{"ratio below 1", []string{"compress", one.ID, "--ratio", "-3"}, 129, `ratio`},
		{"ratio of words", []string{"compress", one.ID, "--ratio", "ten"}, 129, `ten`},
		{"tokens 0", []string{"compress", one.ID, "--tokens", "0"}, 129, `tokens`},
		{"budget 0", []string{"compose", "x", one.ID, "--budget", "0"}, 129, `budget`},
		{"budget of words", []string{"compose", "x", one.ID, "--budget", "lots"}, 129, `lots`},
		{"budget below the pins", []string{"compose", "x", pin.ID, "--budget", "60"}, 5, `(?i)budget|pin`},
		{"nothing to compose", []string{"compose", "x"}, 129, ``},
		{"bad name", []string{"compose", "../x", one.ID, "--budget", "4k"}, 129, `\.\./x`},
		{"absolute name", []string{"compose", "/tmp/x", one.ID, "--budget", "4k"}, 129, `/tmp/x`},
		{"name of a version", []string{"compose", "v001", one.ID, "--budget", "4k"}, 129, `v001`},
		{"name of a session", []string{"compose", "@~1", one.ID, "--budget", "4k"}, 129, `@~1`},
		{"unknown command", []string{"remember"}, 129, `remember`},
		{"unknown flag", []string{"ls", "--bogus"}, 129, `bogus`},
		{"no operand", []string{"add"}, 129, ``},
	} {
		r.refuses(tt)
	}
	r.unsteady()
	r.longLine()
	r.fsck("after bad input")
	left, err := filepath.Glob(filepath.Join(r.Dir, "memory.git", "objects", "pack", "tmp_*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// unsteady adds a file while another writer appends to it, and while one rewrites it: what is stored
// is a state that the file went through, or there is an error.
func (r *rig) unsteady() {
	r.t.Helper()
	w := NewGenerator(504, "/home/user/app")
	first := w.More(400)
	rest := w.More(4000)
	file := r.write("in/"+w.ID+".jsonl", first)
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		r.t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		var err error
		for len(rest) > 0 && err == nil {
			n := min(len(rest), 1000)
			_, err = f.Write(rest[:n])
			rest = rest[n:]
		}
		done <- err
	}()
	for going := true; going; {
		select {
		case err := <-done:
			if err != nil {
				r.t.Fatal(err)
			}
			going = false
		default:
		}
		if res := r.mem("add", file); res.Code != 0 {
			r.t.Fatalf("add of a growing file: %s", res)
		}
		got, err := r.original(w.ID)
		whole, err2 := os.ReadFile(file)
		if err != nil || err2 != nil || !strings.HasPrefix(string(whole), string(got)) {
			r.t.Fatalf("a growing file was stored as %d bytes that are no state of it: %v %v", len(got), err, err2)
		}
	}
	if err := f.Close(); err != nil {
		r.t.Fatal(err)
	}
	whole, err := os.ReadFile(file)
	if err != nil {
		r.t.Fatal(err)
	}
	r.same(w.ID, whole, "after the last append")
}

// longLine adds a session whose only record is longer than what mem looks into.
func (r *rig) longLine() {
	r.t.Helper()
	w := NewGenerator(505, "/home/user/app")
	text := strings.Repeat(w.Words(40)+" ", 200_000)
	var b strings.Builder
	w.Record(&b, map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": text}})
	file := r.write("in/"+w.ID+".jsonl", []byte(b.String()))
	if res := r.mem("add", file); res.Code != 0 {
		r.t.Errorf("add of a line of %d bytes: %s", b.Len(), res)
		return
	}
	r.same(w.ID, []byte(b.String()), "after a long line")
}

// tortureBadStore opens stores that mem must not touch.
func tortureBadStore(t *testing.T, r *rig) {
	w := NewGenerator(601, "/home/user/app")
	content := w.More(30)
	file := r.write("in/"+w.ID+".jsonl", content)
	r.ok("add", file)
	more := r.write("more/"+w.ID+".jsonl", append(content, w.More(5)...))

	nowhere := *r.Store
	nowhere.Dir = filepath.Join(r.Home, "nothing")
	none := &rig{&nowhere, t}
	for _, args := range [][]string{{"ls"}, {"log"}, {"status"}, {"show", w.ID}, {"fsck"}} {
		none.refuses(refusal{"no store: " + args[0], args, 10, `mem init`})
	}
	r.tooNew(more)
	r.openToOthers(more)
	r.readOnly(w.ID, content, more)
	r.foreign(more)
	r.locked(more)
	r.ok("add", more)
	r.fsck("after bad stores")
}

// tooNew gives every lane a format from the future, with plain git.
func (r *rig) tooNew(file string) {
	r.t.Helper()
	c := r.clone(r.t.(*testing.T).TempDir())
	script := `set -e
		blob=$(echo "mem 99" | git hash-object -w --stdin)
		for ref in $(git for-each-ref --format='%(refname)'); do
			tree=$( (git ls-tree "$ref" | grep -v '	format$'; printf '100644 blob %s\tformat\n' "$blob") | git mktree)
			commit=$(git log -1 --format=%B "$ref" | git -c user.name=x -c user.email=x@localhost commit-tree "$tree" -p "$ref")
			git update-ref "$ref" "$commit"
		done`
	if res := c.run("sh", "-c", "cd "+filepath.Join(c.Dir, "memory.git")+"\n"+script); res.Code != 0 {
		r.t.Fatal(res)
	}
	for _, args := range [][]string{{"ls", "--all-projects"}, {"add", file}, {"compress", sessionName(file)}} {
		c.refuses(refusal{"newer format: " + args[0], args, 128, `newer`})
	}
}

func sessionName(file string) string { return strings.TrimSuffix(filepath.Base(file), ".jsonl") }

// openToOthers lets everybody write to the store.
func (r *rig) openToOthers(file string) {
	r.t.Helper()
	c := r.clone(r.t.(*testing.T).TempDir())
	if err := os.Chmod(c.Dir, 0o777); err != nil {
		r.t.Fatal(err)
	}
	c.refuses(refusal{"open to others", []string{"add", file}, 128, `(?i)others|private|permission|chmod`})
}

// foreign gives the store to another user.
func (r *rig) foreign(file string) {
	r.t.Helper()
	if os.Getuid() != 0 {
		r.t.Log("SKIPPED: only root can give a store away")
		return
	}
	c := r.clone(r.t.(*testing.T).TempDir())
	if out, err := exec.Command("chown", "-R", "65534", c.Dir).CombinedOutput(); err != nil {
		r.t.Fatalf("chown: %v\n%s", err, out)
	}
	for _, args := range [][]string{{"ls"}, {"add", file}} {
		c.refuses(refusal{"foreign store: " + args[0], args, 128, `(?i)owned|belongs|private`})
	}
}

// readOnly puts the store on a read-only mount: reading works, writing says why not.
func (r *rig) readOnly(id string, content []byte, file string) {
	r.t.Helper()
	space := namespace(r.t.(*testing.T))
	c := r.clone(r.t.(*testing.T).TempDir())
	locked := func(args ...string) result {
		script := `mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"`
		return c.run(append(append(append([]string{}, space...), "sh", "-c", script, c.Dir, c.Bin), args...)...)
	}
	for _, args := range [][]string{{"ls", "--all-projects"}, {"log", "--all-projects"}, {"show", id}, {"fsck"}, {"checkout", id + ":original", "-o", filepath.Join(c.Home, "out")}} {
		if res := locked(args...); res.Code != 0 {
			r.t.Errorf("reading from a read-only store: %v: %s", args, res)
		}
	}
	if got, err := os.ReadFile(filepath.Join(c.Home, "out")); err != nil || string(got) != string(content) {
		r.t.Errorf("checkout from a read-only store: %d bytes, want %d, %v", len(got), len(content), err)
	}
	for _, args := range [][]string{{"add", file}, {"compress", id, "--ratio", "7"}} {
		if res := locked(args...); res.Code != 128 || !strings.Contains(res.Stderr, "error: ") || !strings.Contains(res.Stderr, "read-only") {
			r.t.Errorf("writing to a read-only store: %v: %s", args, res)
		}
	}
}

// tortureLiar gives the rig programs that break a promise now and then: it must find each of them out.
func tortureLiar(t *testing.T, bin string) {
	for _, tt := range []struct {
		name, script string
		run          func(*Rig) ([]Promise, error)
	}{
		{"acknowledges and does not add", `case $1 in add) COUNT; [ $((n % 4)) = 0 ] && exit 0;; esac; exec MEM "$@"`,
			func(r *Rig) ([]Promise, error) { return r.Kills(t.Context(), 40) }},
		{"adds what nobody asked for", `case $1 in push) MEM add OTHER >/dev/null;; esac; exec MEM "$@"`,
			func(r *Rig) ([]Promise, error) { return r.Kills(t.Context(), 60) }},
		{"pushes nothing", `case $1 in push) exit 0;; esac; exec MEM "$@"`,
			func(r *Rig) ([]Promise, error) { return r.Kills(t.Context(), 20) }},
		{"is open to others", `MEM "$@"; s=$?; chmod 644 "$MEM_DIR/device.json"; exit $s`,
			func(r *Rig) ([]Promise, error) { return r.Kills(t.Context(), 20) }},
		{"takes a hook for done", `case $1 in hook) COUNT; [ $((n % 3)) = 0 ] && exit 0;; esac; exec MEM "$@"`,
			func(r *Rig) ([]Promise, error) { return r.Storm(t.Context(), 12) }},
		{"loses an update", `case $1 in add) COUNT; [ $((n % 5)) = 0 ] && exit 0;; esac; exec MEM "$@"`,
			func(r *Rig) ([]Promise, error) { return r.Writers(t.Context(), 4, 12) }},
		{"loses a version in a power cut", `case $1 in compress) echo '{"version":"v900"}'; exit 0;; esac; exec MEM "$@"`,
			func(r *Rig) ([]Promise, error) { return r.PowerCuts(t.Context(), 8) }},
		{"loses a composition in a power cut", `case $1 in compose) exit 0;; esac; exec MEM "$@"`,
			func(r *Rig) ([]Promise, error) { return r.PowerCuts(t.Context(), 8) }},
	} {
		t.Run(tt.name, func(t *testing.T) { caught(t, bin, tt.script, tt.run) })
	}
	if _, err := exec.LookPath("strace"); err != nil {
		t.Log("SKIPPED: a program whose fsync does nothing is made with strace: apt-get install strace")
		return
	}
	t.Run("does not sync", func(t *testing.T) {
		script := `exec strace -f -qq -o /dev/null -e trace=fsync,fdatasync -e inject=fsync,fdatasync:retval=0 MEM "$@"`
		caught(t, bin, script, func(r *Rig) ([]Promise, error) { return r.PowerCuts(t.Context(), 40) })
	})
}

// count gives a script the number of its earlier runs, also of concurrent ones.
const count = `n=0; until mkdir "$0.$n" 2>/dev/null; do n=$((n + 1)); done`

// caught runs a rig on a program that is not to be trusted.
func caught(t *testing.T, bin, script string, run func(*Rig) ([]Promise, error)) {
	t.Helper()
	r := newProof(t, "")
	r.Bin = filepath.Join(t.TempDir(), "mem")
	w := NewGenerator(99, "/home/user/other")
	other := filepath.Join(t.TempDir(), w.ID+".jsonl")
	text := "#!/bin/sh\n" + strings.NewReplacer("MEM ", bin+" ", "OTHER", other, "COUNT", count).Replace(script) + "\n"
	if err := errors.Join(os.WriteFile(other, w.More(3), 0o600), os.WriteFile(r.Bin, []byte(text), 0o700)); err != nil {
		t.Fatal(err)
	}
	_, err := run(r)
	var broken *Broken
	var skipped *Skipped
	switch {
	case errors.As(err, &skipped):
		t.Skip("SKIPPED: " + skipped.Why)
	case !errors.As(err, &broken):
		t.Errorf("the rig has not found it out: %v", err)
	default:
		t.Logf("found out: %.160s", fmt.Sprint(err))
	}
}

// tortureRepair damages stores, and kills repairs of them. The next repair finishes: from a remote that has the lost data, everything is
// restored, and every damaged file is kept.
func tortureRepair(t *testing.T, r *rig) {
	hub := filepath.Join(r.Home, "hub.git")
	var ids []string
	var want [][]byte
	for i := range 4 {
		w := NewGenerator(uint64(700+i), "/home/user/app")
		text := w.More(30)
		r.ok("add", r.write("in/"+w.ID+".jsonl", text))
		ids, want = append(ids, w.ID), append(want, text)
	}
	r.ok("compress", ids[0], "--ratio", "3")
	if res := r.run("git", "init", "-q", "--bare", hub); res.Code != 0 {
		t.Skipf("SKIPPED: the repository to repair from is made with git: %s", res.Stderr)
	}
	r.ok("remote", "add", "origin", hub)
	r.ok("push", "--all", "--yes")
	root := r.ok("fsck", "--root")
	rng := rand.New(rand.NewPCG(seed(t), 31))
	dir, kills := t.TempDir(), 0
	for range amount(t, 2, 8, 400) {
		c := r.clone(dir)
		c.harm(rng)
		for range 3 {
			if c.kill(time.Duration(1+rng.IntN(120_000))*time.Microsecond, "fsck", "--repair").Code == -1 {
				kills++
			}
		}
		if res := c.mem("fsck", "--repair"); res.Code != 0 && !strings.Contains(res.Stdout, "lost: [this device's own]") {
			t.Fatalf("after repairs that were killed: %s", res)
		}
		if got := c.ok("fsck", "--root"); got != root {
			t.Fatalf("the root is\n%s\nand was\n%s", got, root)
		}
		if res := c.mem("fsck", "--full"); res.Code != 0 {
			t.Fatal(res)
		}
		for i, id := range ids {
			c.same(id, want[i], "after a repair")
		}
		if kept, err := filepath.Glob(filepath.Join(c.Dir, "damaged", "memory.git", "*")); err != nil || len(kept) == 0 {
			t.Fatalf("no damaged file was kept: %v", err)
		}
		if _, err := c.Private(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d repairs killed", kills)
}

// harm flips a byte in some packs and branches of memory.git.
func (r *rig) harm(rng *rand.Rand) {
	r.t.Helper()
	var files []string
	err := filepath.WalkDir(filepath.Join(r.Dir, "memory.git"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && (filepath.Ext(path) == ".pack" || filepath.Ext(path) == ".idx" || strings.Contains(path, "refs/heads/p/")) {
			files = append(files, path)
		}
		return err
	})
	for range 1 + rng.IntN(3) {
		file := files[rng.IntN(len(files))]
		var b []byte
		if err == nil {
			b, err = os.ReadFile(file)
		}
		if err == nil {
			b[rng.IntN(len(b))] ^= byte(1 + rng.IntN(255))
			err = errors.Join(os.Chmod(file, 0o600), os.WriteFile(file, b, 0o600))
		}
	}
	if err != nil {
		r.t.Fatal(err)
	}
}
