package refs

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"iter"
	mrand "math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/objects/stream"
	"github.com/memvcs/mem/refs/lane"
)

const testProject Project = "00000000000000aa"

func testOptions() Options {
	return Options{
		Now:  func() time.Time { return time.Date(2026, 1, 20, 14, 0, 0, 0, time.UTC) },
		Rand: rand.Reader,

		LockTimeout: 5 * time.Minute, // on a busy machine some of many writers wait long
	}
}

func newRepo(t testing.TB) *Repo {
	t.Helper()
	r, err := Init(context.Background(), filepath.Join(t.TempDir(), "memory"), "desk", testOptions())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// txStore makes a store of Update and View.
type txStore struct{ r *Repo }

func (s txStore) Put(ctx context.Context, r io.Reader) (h objects.Hash, err error) {
	err = s.r.Update(ctx, testProject, "put", func(tx *Tx) error {
		h, err = tx.Put(ctx, r)
		return err
	})
	return h, err
}

func (s txStore) Get(ctx context.Context, h objects.Hash) (rc io.ReadCloser, err error) {
	err = s.r.View(ctx, testProject, func(tx *Tx) error {
		rc, err = tx.Get(ctx, h)
		return err
	})
	return rc, err
}

func (s txStore) All(ctx context.Context) iter.Seq2[objects.Hash, error] {
	var all iter.Seq2[objects.Hash, error]
	if err := s.r.View(ctx, testProject, func(tx *Tx) error {
		all = tx.All(ctx)
		return nil
	}); err != nil {
		return func(yield func(objects.Hash, error) bool) { yield(objects.Hash{}, err) }
	}
	return all
}

// Counts is how much a check looked at.
type Counts struct{ Lanes, Commits, Records, Segments, Patches int }

// check is repair.Check, which this package cannot import: package refs_test sets it.
var check func(ctx context.Context, r *Repo, report func(string)) (Counts, error)

// SetCheck sets what checks a store.
func SetCheck(f func(ctx context.Context, r *Repo, report func(string)) (Counts, error)) { check = f }

func mustClean(t *testing.T, r *Repo) Counts {
	t.Helper()
	n, err := check(context.Background(), r, func(p string) { t.Errorf("check: %s", p) })
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{MemoryDir, OriginalsDir} {
		git(t, r, dir, "fsck", "--strict", "--full", "--no-dangling")
	}
	return n
}

func git(t *testing.T, r *Repo, dir string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED: no git on this machine")
	}
	out, err := exec.Command("git", append([]string{"-C", filepath.Join(r.dir, dir)}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func TestInitIsACommitThatGitReads(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	again, err := Init(context.Background(), r.dir, "other", testOptions())
	if err != nil {
		t.Fatal(err)
	}
	if again.device.ID != r.device.ID || again.device.Name != "desk" {
		t.Errorf("a second Init changed the device to %s %s", again.device.ID, again.device.Name)
	}
	for _, dir := range []string{MemoryDir, OriginalsDir} {
		log := git(t, r, dir, "log", "--format=%s")
		if strings.Count(log, "\n") != 1 {
			t.Errorf("git log of %s = %q, want one commit", dir, log)
		}
		git(t, r, dir, "clone", "-q", ".", filepath.Join(t.TempDir(), "clone"))
	}
	mustClean(t, r)
}

// TestSignature checks our signatures with OpenSSH's own program.
func TestSignature(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	payload := []byte("tree 0\n\nhello\n")
	sig := r.device.Sign(payload)
	if err := lane.VerifySignature(r.device.PublicKey(), sig, payload); err != nil {
		t.Errorf("verify: %v", err)
	}
	if err := lane.VerifySignature(r.device.PublicKey(), sig, []byte("tree 1\n\nhello\n")); err == nil {
		t.Error("a signature of other bytes was accepted")
	}
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("SKIPPED: no ssh-keygen on this machine")
	}
	dir := t.TempDir()
	signers := filepath.Join(dir, "signers")
	if err := errors.Join(
		os.WriteFile(signers, []byte(r.device.Email()+" "+r.device.PublicKey()+"\n"), 0o600),
		os.WriteFile(filepath.Join(dir, "sig"), []byte(sig), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("ssh-keygen", "-Y", "verify", "-f", signers, "-I", r.device.Email(), "-n", "git", "-s", filepath.Join(dir, "sig"))
	cmd.Stdin = bytes.NewReader(payload)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("ssh-keygen -Y verify: %v\n%s", err, out)
	}
	git(t, r, MemoryDir, "-c", "gpg.ssh.allowedSignersFile="+signers, "verify-commit", "HEAD")
}

func TestUpdateIsAllOrNothing(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRepo(t)
	boom := errors.New("boom")
	err := r.Update(ctx, testProject, "half", func(tx *Tx) error {
		if _, err := tx.Add("note", map[string]int{"a": 1}); err != nil {
			return err
		}
		return boom
	})
	if !errors.Is(err, boom) {
		t.Fatalf("Update = %v, want %v", err, boom)
	}
	if p, err := r.Projects(); err != nil || len(p) != 0 {
		t.Errorf("after a failed update there are projects %v, %v", p, err)
	}
	temps, _ := filepath.Glob(filepath.Join(r.dir, MemoryDir, "objects", "pack", "tmp_*"))
	stages, _ := filepath.Glob(filepath.Join(r.dir, MemoryDir, "mem", "stage-*"))
	if len(temps)+len(stages) != 0 {
		t.Errorf("a failed update left %v %v", temps, stages)
	}
	if err := r.Update(ctx, testProject, "nothing", func(*Tx) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if p, _ := r.Projects(); len(p) != 0 {
		t.Errorf("an empty update made a commit: %v", p)
	}
}

// TestTips writes to several projects: one reading gives the tips that each of them is seen with.
func TestTips(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRepo(t)
	projects := []Project{testProject, "00000000000000ff", Home}
	for _, p := range projects {
		if err := r.Update(ctx, p, "one", func(tx *Tx) error {
			_, err := tx.Add("note", map[string]int{"a": 1})
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	all, err := r.Tips()
	if err != nil || len(all) != len(projects) {
		t.Fatalf("Tips = %v, %v, want those of %v", all, err, projects)
	}
	for _, p := range projects {
		if err := r.View(ctx, p, func(tx *Tx) error {
			if got := all[p]; len(got) == 0 || !slices.Equal(got, tx.Tips()) {
				t.Errorf("%s: %v, want %v", p, got, tx.Tips())
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := r.Projects(); err != nil || slices.Contains(got, Home) || len(got) != 2 {
		t.Errorf("Projects = %v, %v", got, err)
	}
}

func TestRecordsAndLog(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRepo(t)
	var tips []Tip
	for i := range 5 {
		if err := r.Update(ctx, testProject, fmt.Sprintf("note %d", i), func(tx *Tx) error {
			tx.Trailer("Op", "note")
			_, err := tx.Add("note", i)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if i == 2 {
			r.View(ctx, testProject, func(tx *Tx) error { tips = tx.Tips(); return nil })
		}
	}
	err := r.View(ctx, testProject, func(tx *Tx) error {
		all, err := tx.Records(ctx, nil)
		if err != nil {
			return err
		}
		if len(all) != 6 { // with the device record
			t.Errorf("%d records, want 6", len(all))
		}
		late, err := tx.Records(ctx, tips)
		if err != nil {
			return err
		}
		if len(late) != 2 || string(late[0].Body) != "3" || string(late[1].Body) != "4" {
			t.Errorf("records since note 2: %v", late)
		}
		if ok, err := tx.Follows(tips); err != nil || !ok {
			t.Errorf("Follows(earlier tips) = %v, %v", ok, err)
		}
		if ok, _ := tx.Follows([]Tip{{Device: r.device.ID, Commit: strings.Repeat("a", 40)}}); ok {
			t.Error("Follows(a commit that never was) = true")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var subjects []string
	for e, err := range r.Log(ctx, testProject, nil) {
		if err != nil {
			t.Fatal(err)
		}
		subjects = append(subjects, e.Subject+"/"+e.Trailer("Op"))
	}
	if got, want := strings.Join(subjects, " "), "note 4/note note 3/note note 2/note note 1/note note 0/note"; got != want {
		t.Errorf("log: %s, want %s", got, want)
	}
	mustClean(t, r)
}

func grow(t testing.TB, r *Repo, name objects.Hash, tail *stream.Tail, base int, content []byte) (Growth, error) {
	ctx := context.Background()
	s, err := r.Stage(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	g, err := s.Grow(ctx, name, base, tail, bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	return g, r.Update(ctx, testProject, "grow", func(tx *Tx) error { return tx.Adopt(s) })
}

// TestGrowth shows that every growth point is an object and that a stale stage is refused.
func TestGrowth(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("SKIPPED in short mode: nothing runs side by side here")
	}
	ctx := context.Background()
	r := newRepo(t)
	rng := mrand.New(mrand.NewPCG(1, 2))
	name := stream.Name("session", 0)
	tail := &stream.Tail{Hash: objects.NewHasher()}
	var content []byte
	base := 0
	var points []int
	for i := range 70 { // more than one directory of segments
		piece := fmt.Appendf(nil, "line %d %d\n", i, rng.Uint64())
		g, err := grow(t, r, name, tail, base, piece)
		if err != nil {
			t.Fatal(err)
		}
		content = append(content, piece...)
		points = append(points, len(content))
		base = g.Segments
	}
	store := txStore{r}
	for _, n := range points {
		rc, err := store.Get(ctx, objects.Sum(content[:n]))
		if err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(rc); err != nil || !bytes.Equal(b, content[:n]) {
			t.Fatalf("growth point %d: %d bytes, %v", n, len(b), err)
		}
	}
	r.View(ctx, testProject, func(tx *Tx) error {
		if n, err := tx.Segments(name); n != 70 || err != nil {
			t.Errorf("Segments = %d, %v", n, err)
		}
		return nil
	})
	old := &stream.Tail{Hash: objects.NewHasher()}
	if _, err := grow(t, r, name, old, 0, []byte("x")); !errors.Is(err, ErrConflict) {
		t.Errorf("growth of an old state: %v, want ErrConflict", err)
	}
	if n := mustClean(t, r); n.Segments != 70 {
		t.Errorf("check saw %d segments, want 70", n.Segments)
	}
}

func TestPatch(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRepo(t)
	var id objects.Hash
	if err := r.Update(ctx, testProject, "add", func(tx *Tx) error {
		rec, err := tx.Add("session", "x")
		id = rec.ID
		return errors.Join(err, tx.PutPatch(rec.ID, []byte("the secret")))
	}); err != nil {
		t.Fatal(err)
	}
	r.View(ctx, testProject, func(tx *Tx) error {
		b, err := tx.Patch(r.Device().ID, id)
		if string(b) != "the secret" || err != nil {
			t.Errorf("Patch = %q, %v", b, err)
		}
		if _, err := tx.Patch(r.Device().ID, objects.Sum(nil)); !errors.Is(err, objects.ErrNotFound) {
			t.Errorf("Patch of nothing: %v", err)
		}
		return nil
	})
	if n := mustClean(t, r); n.Patches != 1 {
		t.Errorf("check saw %d patches, want 1", n.Patches)
	}
}

// TestManyWriters runs writers of one lane and of others at once: nothing is lost, packs are merged, and
// readers, git among them, never see a torn state.
func TestManyWriters(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRepo(t)
	const writers = 8
	rounds := 12
	if testing.Short() {
		rounds = 4
	}
	var wg sync.WaitGroup
	stop := make(chan struct{})
	var readers sync.WaitGroup
	readers.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			if err := r.View(ctx, testProject, func(tx *Tx) error { _, err := tx.Records(ctx, nil); return err }); err != nil {
				t.Errorf("reader: %v", err)
				return
			}
			git(t, r, MemoryDir, "log", "--oneline", "--all")
			git(t, r, MemoryDir, "fsck", "--strict", "--no-dangling")
		}
	})
	for w := range writers {
		wg.Go(func() {
			mine, err := Open(r.dir, testOptions()) // as another process would
			if err != nil {
				t.Error(err)
				return
			}
			defer mine.Close()
			for i := range rounds {
				p := testProject
				if i%4 == 3 {
					p = Project(fmt.Sprintf("%016x", 100+w))
				}
				if err := mine.Update(ctx, p, "note", func(tx *Tx) error { _, err := tx.Add("note", []int{w, i}); return err }); err != nil {
					t.Errorf("writer %d: %v", w, err)
				}
			}
		})
	}
	wg.Wait()
	close(stop)
	readers.Wait()
	n := mustClean(t, r)
	if want := writers*rounds + 1 + writers + 1; n.Records != want { // and device records
		t.Errorf("%d records, want %d", n.Records, want)
	}
	if packs, err := r.memory.Packs().Count(); packs > maxPacks+writers || err != nil {
		t.Errorf("%d packs are left, %v", packs, err)
	}
	if err := pack.Expire(r.memory.PackDir(), 0); err != nil {
		t.Fatal(err)
	}
	mustClean(t, r)
}

func TestLockTimeout(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRepo(t)
	o := testOptions()
	o.LockTimeout = 30 * time.Millisecond
	impatient, err := Open(r.dir, o)
	if err != nil {
		t.Fatal(err)
	}
	defer impatient.Close()
	err = r.Update(ctx, testProject, "long", func(*Tx) error {
		return impatient.Update(ctx, testProject, "short", func(*Tx) error { return nil })
	})
	if !errors.Is(err, ErrLocked) {
		t.Errorf("Update while another one runs: %v, want ErrLocked", err)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	if _, err := Open(t.TempDir(), testOptions()); !errors.Is(err, ErrNotRepo) {
		t.Errorf("Open of an empty directory: %v, want ErrNotRepo", err)
	}
	os.Chmod(r.dir, 0o770)
	if _, err := Open(r.dir, testOptions()); !errors.Is(err, ErrUnsafe) {
		t.Errorf("Open of a group-writable store: %v, want ErrUnsafe", err)
	}
}

// TestFlippedBits damages the packs at random: every damage to content is reported.
func TestFlippedBits(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRepo(t)
	tail := &stream.Tail{Hash: objects.NewHasher()}
	if _, err := grow(t, r, stream.Name("s", 0), tail, 0, bytes.Repeat([]byte("some words "), 2000)); err != nil {
		t.Fatal(err)
	}
	packs, _ := filepath.Glob(filepath.Join(r.dir, MemoryDir, "objects", "pack", "*.pack"))
	rng := mrand.New(mrand.NewPCG(5, 5))
	flips := 60
	if testing.Short() {
		flips = 10
	}
	for range flips {
		file := packs[rng.IntN(len(packs))]
		good, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		bad := bytes.Clone(good)
		at := 12 + rng.IntN(len(bad)-32)
		bad[at] ^= 1 << rng.IntN(8)
		os.Chmod(file, 0o600)
		os.WriteFile(file, bad, 0o600)
		fresh, err := Open(r.dir, testOptions())
		found := 0
		if err == nil {
			_, err = check(ctx, fresh, func(string) { found++ })
			fresh.Close()
		}
		if err == nil && found == 0 {
			t.Errorf("bit flipped at %d of %s: not noticed", at, filepath.Base(file))
		}
		os.WriteFile(file, good, 0o600)
	}
}

// TestNewerFormat takes the place of a newer mem, which writes another format into a lane: this one then
// neither reads nor writes it.
func TestNewerFormat(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED: there is no git")
	}
	ctx := context.Background()
	r := newRepo(t)
	add := func(tx *Tx) error { _, err := tx.Add("set", map[string]string{"a": "b"}); return err }
	if err := r.Update(ctx, testProject, "one", add); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(r.dir, "memory.git")
	run := func(stdin string, args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=x", "-c", "user.email=x@x"}, args...)...)
		cmd.Stdin = strings.NewReader(stdin)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	ref := run("", "for-each-ref", "--format=%(refname)", "refs/heads/p/"+string(testProject))
	blob := run("mem 2\n", "hash-object", "-w", "--stdin")
	var tree []string
	for line := range strings.Lines(run("", "ls-tree", ref)) {
		meta, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if name == "format" {
			meta = "100644 blob " + blob
		}
		tree = append(tree, meta+"\t"+name+"\n")
	}
	commit := run("", "commit-tree", "-p", ref, "-m", "newer", run(strings.Join(tree, ""), "mktree"))
	run("", "update-ref", ref, commit)

	newer, err := Open(r.dir, testOptions())
	if err != nil {
		t.Fatal(err)
	}
	defer newer.Close()
	for name, read := range map[string]func(*Tx) error{
		"Records":   func(tx *Tx) error { _, err := tx.Records(ctx, nil); return err },
		"RecordIDs": func(tx *Tx) error { _, err := tx.RecordIDs(); return err },
		"Get":       func(tx *Tx) error { _, err := tx.Get(ctx, objects.Sum(nil)); return err },
		"Find":      func(tx *Tx) error { _, err := tx.Find("abcd"); return err },
		"Segments":  func(tx *Tx) error { _, err := tx.Segments(objects.Sum(nil)); return err },
	} {
		if err := newer.View(ctx, testProject, read); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v, want ErrFormat", name, err)
		}
	}
	if err := newer.Update(ctx, testProject, "two", add); !errors.Is(err, ErrFormat) {
		t.Errorf("Update: %v, want ErrFormat", err)
	}
	if got := run("", "rev-parse", ref); got != commit {
		t.Errorf("the lane went to %s", got)
	}
}
