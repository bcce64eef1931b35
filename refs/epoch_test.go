package refs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs/lane"
)

// note commits a record to this device's lane of a project and returns the lane.
func note(t testing.TB, r *Repo, p Project, text string) Lane {
	t.Helper()
	if err := r.Update(t.Context(), p, "note", func(tx *Tx) error {
		_, err := tx.Add("set", map[string]string{"text": text})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return ownLane(t, r, p)
}

func ownLane(t testing.TB, r *Repo, p Project) Lane {
	t.Helper()
	l := Lane{Project: p, Device: r.device.ID}
	var err error
	if l.Tip, err = r.memory.Ref(l.Ref()); err != nil {
		t.Fatal(err)
	}
	return l
}

// restart rewrites this device's lane of a project with all that it has, and one more record.
func restart(t testing.TB, r *Repo, p Project, text string) Lane {
	t.Helper()
	if err := r.Rewrite(t.Context(), p, "restart", func(old, tx *Tx) error {
		_, err := tx.Add("set", map[string]string{"text": text})
		return errors.Join(err, tx.CopyFrom(old, func(string, objects.Hash) bool { return true }))
	}); err != nil {
		t.Fatal(err)
	}
	return ownLane(t, r, p)
}

// TestEpochs restarts a lane twice: each time it is one commit with the next epoch, keeps its records and a growing
// Lamport time, and knows every former commit of all its epochs.
func TestEpochs(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	var former []pack.ID
	var lamport uint64
	for epoch := range uint64(3) {
		for i := range 2 {
			l := note(t, r, testProject, fmt.Sprintf("%d %d", epoch, i))
			if got, err := r.Epoch(t.Context(), l); err != nil || got != epoch {
				t.Fatalf("Epoch = %d, %v; want %d", got, err, epoch)
			}
		}
		l := ownLane(t, r, testProject)
		commits, _, err := lane.CommitsSince(t.Context(), r.memory, l.Tip, pack.ID{}, 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range commits {
			if was, err := r.Former(l, id); was || err != nil {
				t.Errorf("a commit of the running epoch is former: %v, %v", was, err)
			}
		}
		former = append(former, commits...)
		l = restart(t, r, testProject, fmt.Sprint("restart ", epoch))
		c, err := r.memory.Commit(l.Tip)
		if err != nil || !c.Parent.IsZero() {
			t.Fatalf("a restarted lane has the parent %s, %v", c.Parent, err)
		}
		n, err := lane.LamportOf(c)
		if err != nil || n <= lamport {
			t.Errorf("the Lamport time after a restart is %d, %v; it was %d", n, err, lamport)
		}
		lamport = n
		for _, id := range former {
			if was, err := r.Former(l, id); !was || err != nil {
				t.Errorf("Former(%s) = %v, %v after restart %d", id, was, err, epoch)
			}
		}
	}
	if err := r.View(t.Context(), testProject, func(tx *Tx) error {
		all, err := tx.Records(t.Context(), nil)
		if sets := countKind(all, "set"); sets != 3*2+3 {
			t.Errorf("%d records after three restarts, want 9", sets)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if problems, err := r.MissingFormer(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("MissingFormer = %v, %v", problems, err)
	}
}

func countKind(all []Record, kind string) (n int) {
	for _, rec := range all {
		if rec.Kind == kind {
			n++
		}
	}
	return n
}

// TestRewriteThatFails leaves the lane and the list of its former commits as they were.
func TestRewriteThatFails(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	was := note(t, r, testProject, "1")
	stop := errors.New("stop")
	if err := r.Rewrite(t.Context(), testProject, "restart", func(_, tx *Tx) error {
		_, err := tx.Add("set", map[string]string{"text": "2"})
		return errors.Join(err, stop)
	}); !errors.Is(err, stop) {
		t.Fatalf("Rewrite = %v", err)
	}
	if now := ownLane(t, r, testProject); now != was {
		t.Errorf("the lane is at %s, want %s", now.Tip, was.Tip)
	}
	if former, err := r.Former(was, was.Tip); former || err != nil {
		t.Errorf("Former = %v, %v", former, err)
	}
}

// TestFormerOfOthers knows no former commits of other devices and projects.
func TestFormerOfOthers(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	was := note(t, r, testProject, "1")
	restart(t, r, testProject, "2")
	for _, l := range []Lane{{Project: testProject, Device: "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee"}, {Project: "00000000000000bb", Device: was.Device}} {
		if former, err := r.Former(l, was.Tip); former || err != nil {
			t.Errorf("Former of %+v = %v, %v", l, former, err)
		}
	}
}

// TestAddFormer adds commits from several goroutines and twice: each is listed once, none is lost.
func TestAddFormer(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	var all sync.WaitGroup
	for i := range 64 {
		all.Go(func() {
			p := Project(fmt.Sprintf("%016x", i%2))
			if _, err := r.AddFormer(t.Context(), p, []pack.ID{{byte(i)}, {byte(i), 1}, {byte(i)}}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	before, err := os.ReadFile(filepath.Join(r.dir, FormerFile))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 64 {
		l := Lane{Project: Project(fmt.Sprintf("%016x", i%2)), Device: r.device.ID}
		for _, id := range []pack.ID{{byte(i)}, {byte(i), 1}} {
			if former, err := r.Former(l, id); !former || err != nil {
				t.Errorf("Former(%s) = %v, %v", id, former, err)
			}
		}
		if _, err := r.AddFormer(t.Context(), l.Project, []pack.ID{{byte(i)}}); err != nil {
			t.Fatal(err)
		}
	}
	if after, err := os.ReadFile(filepath.Join(r.dir, FormerFile)); err != nil || string(after) != string(before) {
		t.Errorf("known commits change the file: %v\n%s\n%s", err, before, after)
	}
}

// TestDamagedFormer refuses to answer from a damaged list, and replaces it when the next lane restarts.
func TestDamagedFormer(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	was := note(t, r, testProject, "1")
	was = restart(t, r, testProject, "2")
	file := filepath.Join(r.dir, FormerFile)
	if err := os.Truncate(file, 20); err != nil {
		t.Fatal(err)
	}
	if former, err := r.Former(was, was.Tip); former || !errors.Is(err, ErrDamaged) {
		t.Errorf("Former from a damaged list = %v, %v", former, err)
	}
	restart(t, r, testProject, "3")
	if former, err := r.Former(was, was.Tip); !former || err != nil {
		t.Errorf("Former after the next restart = %v, %v", former, err)
	}
	kept, err := os.ReadDir(filepath.Join(r.dir, DamagedDir))
	if err != nil || len(kept) != 1 {
		t.Errorf("the damaged list is kept as %v, %v", kept, err)
	}
}

// TestIsFormer takes the last commit that was seen on a remote for a former one, if the lane has restarted since.
func TestIsFormer(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	was := note(t, r, testProject, "1")
	there := Remote{Marks: map[string]Mark{was.Ref(): {Tip: was.Tip.String()}}}
	if former, err := r.IsFormer(t.Context(), there, was, was.Tip); former || err != nil {
		t.Errorf("IsFormer before a restart = %v, %v", former, err)
	}
	now := restart(t, r, testProject, "2")
	if err := os.Remove(filepath.Join(r.dir, FormerFile)); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[pack.ID]bool{was.Tip: true, {9}: false} {
		if former, err := r.IsFormer(t.Context(), there, now, id); former != want || err != nil {
			t.Errorf("IsFormer(%s) without the list = %v, %v; want %v", id, former, err, want)
		}
	}
	other := now
	other.Device = "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee"
	if former, err := r.IsFormer(t.Context(), there, other, was.Tip); former || err != nil {
		t.Errorf("IsFormer of another device = %v, %v", former, err)
	}
}
