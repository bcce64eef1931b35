//go:build unix

package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs/refstest"
)

// Of the forged lanes a memory fetches so many, and each sealedLanes-th of them comes from an encrypted remote.
const (
	lanesAtOnce = 1000
	sealedLanes = 10
)

// TestTortureLanes fetches validly signed lanes of untrusted devices, with arbitrary bodies, names, modes, clocks and parts. Afterwards the
// user's commands have the same output, files and exit status as in a twin of the memory that has fetched none of them; nothing
// is written elsewhere, and hooks hand no word of the lanes to a session.
func TestTortureLanes(t *testing.T) {
	t.Parallel()
	total, first := lanesWanted(t)
	w := newLanesWorld(t)
	want := w.twin(t)
	start, taken := time.Now(), int64(0)
	t.Run("batches", func(t *testing.T) { // the subtests use all processors
		for done := 0; done < total; done += lanesAtOnce {
			var numbers []uint64
			for n := range min(lanesAtOnce, total-done) {
				numbers = append(numbers, first<<32+uint64(done+n))
			}
			t.Run(strconv.Itoa(done), func(t *testing.T) {
				t.Parallel()
				got, took := w.victim(t, numbers)
				atomic.AddInt64(&taken, int64(took))
				if where := changes(want, got); where != "" {
					one := w.narrow(t, want, numbers)
					t.Fatalf("%d of %d lanes change what own commands do:\n%s\nalone:\n%s", len(one), len(numbers), where, w.describe(t, want, one))
				}
			})
		}
	})
	t.Logf("%d lanes, %d of them taken: %d commands as in the twin (%.0f s)", total, taken, len(want), time.Since(start).Seconds())
	if int(taken) < total/4 && !t.Failed() {
		t.Errorf("%d of %d lanes got past the door: the test does not say much", taken, total)
	}
}

// lanesWanted returns how many lanes the tier wants and which are first.
func lanesWanted(t *testing.T) (total int, first uint64) {
	t.Helper()
	total = layerstest.Tiered(t, 200, 2500, 1_000_000)
	first, err := strconv.ParseUint(cmp.Or(os.Getenv("MEM_TORTURE_SEED"), "1"), 10, 31)
	if err != nil {
		t.Fatalf("MEM_TORTURE_SEED: %v", err)
	}
	return total, first
}

// A lanesWorld is a memory, and the remote that it has been pushed to.
type lanesWorld struct {
	dir    string
	forger *laneForger
}

// An outcome is what a command did.
type outcome struct {
	args string
	code int
	out  string
}

// at is the memory in a world's directory, or in a copy of it.
func (w *lanesWorld) at(t testing.TB, dir string) *target {
	return &target{t, filepath.Join(dir, "victim"), filepath.Join(dir, "hub.git"), dir}
}

func newLanesWorld(t *testing.T) *lanesWorld {
	t.Helper()
	w := &lanesWorld{dir: filepath.Join(t.TempDir(), "base")}
	g := w.at(t, w.dir)
	for _, hub := range []string{"hub.git", "own.git", "sealed.git"} {
		for _, name := range []string{"objects/pack", "objects/info", "refs/heads", "refs/tags"} {
			if err := os.MkdirAll(filepath.Join(w.dir, hub, name), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		w.put(t, hub+"/HEAD", "ref: refs/heads/main\n")
		w.put(t, hub+"/config", "[core]\n\trepositoryformatversion = 0\n\tbare = true\n")
	}
	for name, text := range laneWorldFiles() {
		w.put(t, name, text)
	}
	for _, line := range strings.Split(strings.TrimSpace(laneWorldCommands), "\n") {
		g.ok(strings.Fields(strings.ReplaceAll(line, "own.git", g.hub))...)
	}
	w.learn(t)
	return w
}

func (w *lanesWorld) put(t testing.TB, name, text string) {
	t.Helper()
	name = filepath.Join(w.dir, name)
	err := os.MkdirAll(filepath.Dir(name), 0o700)
	if err == nil {
		err = os.WriteFile(name, []byte(text), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

const laneWorldCommands = `
init -q --device laptop
-q add a1aaaaaa.jsonl b2bbbbbb.jsonl c3cccccc.jsonl
-q facts save save.json
-q -p shop compress a1aa -r 2
-q -p shop compress a1aa:v001 -r 3
-q -p shop compose ctx a1aa:v001 b2bb --budget 4k
-q -p shop rules add Coupons-are-never-negative
-q -p shop concepts assign a1aa --new Coupons --topic codes
-q -p shop keepit set a1aa k1 0.95
-q -p shop rm c3cc --yes
remote add own own.git
push own --all --yes
remote rm own --yes
`

// laneTurn is the content of one message of the transcripts.
func laneTurn(id string, day, i int, text string) string {
	if i%2 == 0 {
		return fmt.Sprintf(`{"type":"user","uuid":"%s-%d","timestamp":"2026-01-%dT10:%02d:00Z","cwd":"/home/dev/shop","sessionId":%q,"message":{"role":"user","content":%q}}`+"\n", id, i, day, i, id, text)
	}
	return fmt.Sprintf(`{"type":"assistant","uuid":"%s-%d","timestamp":"2026-01-%dT10:%02d:00Z","cwd":"/home/dev/shop","sessionId":%q,"message":{"role":"assistant","id":"m%s%d","content":[{"type":"text","text":%q}]}}`+"\n", id, i, day, i, id, id, i, text)
}

func laneSession(id string, day int, texts ...string) string {
	var b strings.Builder
	for i, text := range texts {
		b.WriteString(laneTurn(id, day, i, text))
	}
	return b.String()
}

var laneWorldFiles = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"a1aaaaaa.jsonl": laneSession("a1aaaaaa", 15, "Coupons must never be negative. ##keepit0.90##Never ship on Friday.##/keepit##", "Understood, I added a check for that to the coupon code.",
			"Now part one of the work on pkg/one/file.go, with the tests.", "Part one is done in pkg/one/file.go, the tests pass.", "Then part two of the work on pkg/two/file.go.", "Part two is done as well, in pkg/two/file.go."),
		"b2bbbbbb.jsonl": laneSession("b2bbbbbb", 16, "Taxes are rounded down.", "I rounded the taxes down everywhere in the shop."),
		"c3cccccc.jsonl": laneSession("c3cccccc", 17, "Remove the old cart.", "The old cart is gone."),
		"d4dddddd.jsonl": laneSession("d4dddddd", 18, "Add a banner to the shop.", "The banner is there."),
		"save.json":      `{"session":"a1aaaaaa","through":2,"exchanges":[{"messages":[1,2],"topic":"coupon codes","facts":[{"kind":"decision","text":"Coupons must never be negative.","evidence":[{"message":1,"quote":"Coupons must never be negative."}]}]}]}`,
		"start.json":     `{"session_id":"f6ffffff","cwd":"/home/dev/shop","hook_event_name":"SessionStart","source":"startup","transcript_path":"/home/dev/none/f6ffffff.jsonl"}`,

		"precious.jsonl": "precious\n", "victim.jsonl": "precious\n",
	}
})

// ownCommands are the commands of the user after the fetch, in this order.
const ownCommands = `
hook SessionStart
-p shop ls
-p shop ls --all
-p shop show @
-p shop show a1aa
-p shop show a1aa:v001
-p shop show a1aa#1
-p shop show ctx
-p shop show b2bbbbbb:L1
-p shop show b2bb
-p shop log
-p shop versions a1aa
-p shop facts list
-p shop rules list
-p shop concepts list
-p shop keepit list a1aa
-p shop memory
-p shop layers
-p shop blame a1aa:v001
-p shop why a1aa:v001 --up
-p shop search coupon
-p shop status
project list
-p shop checkout @:original -o at
-p shop checkout a1aa:original -o original
-p shop checkout a1aa:v001 -o version
-p shop checkout ctx -o composed
add d4dddddd.jsonl
-p shop show @
-p shop compress a1aa -r 2
-p shop compress a1aa --tokens 60
-p shop compress b2bb -r 2
-p shop compose ctx a1aa:v003 d4dd --budget 4k
-p shop compose auto --auto --budget 4k
-p shop checkout auto -o auto
-p shop concepts assign b2bb --new Taxes --topic taxes
-p shop keepit set a1aa k1 0.85
-p shop rm b2bb --yes -f
-p shop undo
-p shop ls
-p shop log
push own --all --yes
pull own
fsck
hook SessionStart
-p shop doctor
`

// learn reads the pushed data of the victim, for the forger.
func (w *lanesWorld) learn(t *testing.T) {
	t.Helper()
	refs, err := filepath.Glob(filepath.Join(w.dir, "victim/memory.git/refs/heads/p/*/*"))
	if err != nil || len(refs) != 2 {
		t.Fatalf("lanes of the victim: %v, %v", refs, err)
	}
	var records [][]byte
	f := &laneForger{t: t, shared: map[string]refstest.Entry{}, seed: 1, bound: laneBound(time.Date(2026, 1, 20, 14, 0, 0, 0, time.UTC))}
	for _, ref := range refs {
		rel, err := filepath.Rel(filepath.Join(w.dir, "victim/memory.git"), ref)
		if err != nil {
			t.Fatal(err)
		}
		r := openForger(t, filepath.Join(w.dir, "victim/memory.git"), rel)
		names, content := r.blobs("records")
		for _, name := range names {
			records = append(records, content[name])
		}
		if project := filepath.Base(filepath.Dir(ref)); project != "0000000000000000" {
			f.project = project
			for _, e := range r.root {
				if e.Mode == "40000" && e.Name != "records" {
					f.shared[e.Name] = e
				}
			}
		}
	}
	if f.book, err = newPhrasebook(records); err != nil {
		t.Fatal(err)
	}
	w.forger = f
}

// laneBound is the largest clock that a lane may have at a time: docs/formats.md.
func laneBound(now time.Time) uint64 {
	return 1<<32 + 1000*uint64(now.Sub(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC))/time.Second)
}

// twin is the result of the commands without a forged lane.
func (w *lanesWorld) twin(t *testing.T) []outcome {
	t.Helper()
	got, _ := w.victim(t, nil)
	for _, o := range got {
		if o.code != 0 {
			t.Errorf("without any forged lane: %s: %d\n%s", o.args, o.code, o.out)
		}
	}
	return got
}

// victim is the result of the commands in a copy of the memory that has fetched some lanes, with the number of accepted lanes.
func (w *lanesWorld) victim(t *testing.T, numbers []uint64) (all []outcome, taken int) {
	t.Helper()
	dir, err := os.MkdirTemp(filepath.Dir(w.dir), "")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	home := filepath.Join(dir, "home")
	if err := copyPrivate(home, w.dir); err != nil {
		t.Fatal(err)
	}
	g := w.at(t, home)
	g.ok("remote", "add", "other", g.hub)
	g.ok("remote", "add", "own", filepath.Join(home, "own.git"))
	g.ok("remote", "add", "--encrypt", "sealed", filepath.Join(home, "sealed.git"))
	var refs []string // of the encrypted remote
	if len(numbers) > 0 {
		f := *w.forger
		f.t = t
		var sealed, plain []uint64
		for _, n := range numbers {
			if n%sealedLanes == 0 {
				sealed = append(sealed, n)
			} else {
				plain = append(plain, n)
			}
		}
		f.forge(g.hub, plain)
		refs = f.seal(g.dir, filepath.Join(dir, "member"), sealed)
		for _, name := range []string{"other", "sealed"} {
			if out, code, _ := g.mem("fetch", name); code != 0 && code != 1 && code != 3 { // lanes are refused, or damaged
				all = append(all, outcome{"fetch " + name, code, out})
			}
		}
	}
	lanes, err := filepath.Glob(filepath.Join(g.dir, "memory.git/refs/untrusted/*/*"))
	if err != nil {
		t.Fatal(err)
	}
	took := 0
	for _, ref := range refs {
		if slices.Contains(lanes, filepath.Join(g.dir, "memory.git", strings.Replace(ref, "refs/heads/p/", "refs/untrusted/", 1))) {
			took++
		}
	}
	if len(refs) > 50 && took < len(refs)/4 {
		t.Errorf("%d of %d lanes of the encrypted remote got past the door", took, len(refs))
	}
	if err := g.packBranches(numbers); err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(ownCommands), "\n") {
		all = append(all, w.own(g, line))
	}
	return append(all, outcome{"files", 0, filesElsewhere(t, home)}), len(lanes)
}

// packBranches packs the branches of the memory as "git gc" does, in three of four batches: each command reads all of them several times.
func (g *target) packBranches(numbers []uint64) error {
	if len(numbers) == 0 || numbers[0]/lanesAtOnce%4 == 0 {
		return nil
	}
	r, err := gitstore.Open(filepath.Join(g.dir, "memory.git"))
	if err != nil {
		return err
	}
	defer r.Close()
	all, err := r.Refs("refs/heads/")
	packed := "# pack-refs with: peeled fully-peeled sorted \n"
	for _, ref := range all {
		packed += ref.ID.String() + " " + ref.Name + "\n"
	}
	err = errors.Join(err, os.WriteFile(filepath.Join(g.dir, "memory.git", "packed-refs"), []byte(packed), 0o600))
	for _, ref := range all {
		err = errors.Join(err, os.Remove(filepath.Join(g.dir, "memory.git", ref.Name)))
	}
	return err
}

// own runs a command as the user does, and returns its effects on the user's own data.
func (w *lanesWorld) own(g *target, line string) outcome {
	g.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), hostileHang)
	defer cancel()
	cmd := exec.CommandContext(ctx, "mem", strings.Fields(line)...)
	cmd.Env = append(os.Environ(), "MEM_DIR="+g.dir, "HOME="+g.home, "MEM_NOW=2026-01-20T14:00:00Z", "LC_ALL=C.UTF-8", "GIT_CONFIG_NOSYSTEM=1", "TZ=UTC",
		"CLAUDE_CONFIG_DIR="+filepath.Join(g.home, ".claude"), "NO_COLOR=1")
	cmd.Dir = g.home
	cmd.WaitDelay = time.Minute
	if strings.HasPrefix(line, "hook") {
		payload, err := os.Open(filepath.Join(g.home, "start.json"))
		if err != nil {
			g.t.Fatal(err)
		}
		defer payload.Close()
		cmd.Stdin = payload
	}
	var b bytes.Buffer
	cmd.Stdout, cmd.Stderr = &b, &b
	err := cmd.Run()
	var exited *exec.ExitError
	if err != nil && !errors.As(err, &exited) {
		g.t.Fatalf("mem %s: %v", line, err)
	}
	out := strings.ReplaceAll(b.String(), g.home, "HOME")
	if !strings.HasPrefix(line, "hook") {
		out = w.ofTheUser(line, out)
	}
	return outcome{line, cmd.ProcessState.ExitCode(), out}
}

// ofTheUser removes the lines about untrusted devices from the output of a command.
func (w *lanesWorld) ofTheUser(line, out string) string {
	strange := regexp.MustCompile(`untrusted|not trusted|forged-|~[0-9a-f]{8}\b|^[0-9]+ statements? of device|^hint: mem device drop|^checked |^root |^ = \[up to date\]|^$`)
	var keep []string
	for text := range strings.Lines(out) {
		switch {
		case strange.MatchString(strings.TrimSuffix(text, "\n")):
		case line == "-p shop doctor" && !strings.HasPrefix(text, "fail"):
		case line == "project list" && !strings.Contains(text, w.forger.project):
		default:
			keep = append(keep, strings.TrimRight(text, "\t\n")+"\n") // without the cell of notes, if there is none
		}
	}
	return clockPlaces().ReplaceAllString(strings.Join(keep, ""), "COMMIT")
}

// filesElsewhere describes all files of a home but the memory's and those of its remotes.
func filesElsewhere(t *testing.T, home string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(home, path)
		if slices.Contains([]string{"victim", "hub.git", "own.git", "sealed.git"}, rel) {
			return filepath.SkipDir
		}
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if filepath.Base(path) == "composition.json" {
			content = recordNames().ReplaceAll(bytes.ReplaceAll(content, []byte(home), nil), nil)
		}
		fmt.Fprintf(&b, "%s %x\n", rel, sha256.Sum256(content))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// changes tells the commands that do something else, and what; it is empty if there are none.
func changes(want, got []outcome) string {
	if len(want) != len(got) {
		return fmt.Sprintf("%s: exit status %d\n%s", got[0].args, got[0].code, got[0].out)
	}
	var b strings.Builder
	for i := range want {
		if strings.HasPrefix(got[i].args, "hook") && strings.Contains(got[i].out, lanesCanary) || want[i] != got[i] {
			fmt.Fprintf(&b, "%s: exit status %d\n%.1500s\nin the twin: %d\n%.1500s\n", got[i].args, got[i].code, got[i].out, want[i].code, want[i].out)
		}
	}
	return b.String()
}

// narrow finds a lane among some that change something, or few if it takes several.
func (w *lanesWorld) narrow(t *testing.T, want []outcome, numbers []uint64) []uint64 {
	for len(numbers) > 1 {
		half := len(numbers) / 2
		found := false
		for _, part := range [][]uint64{numbers[:half], numbers[half:]} {
			if got, _ := w.victim(t, part); changes(want, got) != "" {
				numbers, found = part, true
				break
			}
		}
		if !found {
			break
		}
	}
	return slices.Clone(numbers)
}

// describe tells what lanes say and change.
func (w *lanesWorld) describe(t *testing.T, want []outcome, numbers []uint64) string {
	got, _ := w.victim(t, numbers)
	var b strings.Builder
	fmt.Fprintln(&b, changes(want, got))
	var err error
	if w.forger.w, err = pack.Create(t.TempDir(), "forged"); err != nil {
		t.Fatal(err)
	}
	defer w.forger.w.Abort()
	for _, n := range numbers[:min(3, len(numbers))] {
		l := w.forger.lane(n)
		fmt.Fprintf(&b, "lane %d of project %s, clock %d, %d other files:\n", n, l.Project, l.Clock, len(l.Files))
		for _, r := range l.Records {
			fmt.Fprintf(&b, "%.3000s", r)
		}
	}
	return b.String()
}

// clockPlaces are names of commits that this test made, numbers of their trees, and sizes: they depend on the clock, which goes on from those of others. So is the number
// of all sessions, which "mem status" tells by devices in the lines below it.
var clockPlaces = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b[0-9a-f]{40}\b|\([0-9a-f]{7}, |\[[^ ]+ [0-9a-f]{7}\]|[0-9]+ objects|[0-9.]+ kB|[0-9]+ sessions in memory`)
})

// recordNames depend on the name of a record, which depends on the clock.
var recordNames = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`"compositionId": "[0-9a-f-]+"`)
})
