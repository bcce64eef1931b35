package sealed

import (
	"context"
	"crypto/rand"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs/lane"
	"github.com/memvcs/mem/refs/refstest"
	"github.com/memvcs/mem/refs/remote"
)

// TestPushReconnect loses the connection after a push has updated the keyring.
func TestPushReconnect(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED: there is no git to be the server")
	}
	dir := filepath.Join(t.TempDir(), "hub.git")
	if err := gitstore.Init(dir); err != nil {
		t.Fatal(err)
	}
	down := false
	world := remote.World{Getenv: func(string) string { return "" },
		Command: func(ctx context.Context, _ []string, _ string, args ...string) *exec.Cmd {
			if down {
				return exec.CommandContext(ctx, "false")
			}
			service, _, _ := strings.Cut(args[len(args)-1], " ")
			return exec.CommandContext(ctx, "git", strings.TrimPrefix(service, "git-"), dir)
		}}
	c := remote.New(remote.URL{Scheme: "ssh", Host: "host", Path: dir}, world)
	o := Options{Name: "laptop", Rand: rand.Reader,
		Limits: pack.Limits{Bytes: 1 << 20, Objects: 1000, Object: 1 << 20, Ratio: 100}}
	r := refstest.New(t)
	joined, err := Join(t.Context(), r, c, JoinOptions{}, o)
	if err != nil || !joined.Created {
		t.Fatalf("Join = %+v, %v", joined, err)
	}
	o.Name = "renamed" // so the push updates the keyring
	v, err := Open(r, c, joined.ID, o)
	if err != nil {
		t.Fatal(err)
	}
	s, err := v.Open(t.Context(), remote.Receive)
	if err != nil {
		t.Fatal(err)
	}
	down = true
	ref := lane.Ref(refstest.Project, r.Device().ID)
	if err := s.Push(t.Context(), remote.Batch{Updates: []remote.Update{{Ref: ref, New: pack.ID{1}}}}); err == nil {
		t.Error("a push without a connection is no error")
	}
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if err := v.Close(); err != nil {
		t.Error(err)
	}
	if n := v.Keyring().Number; n != 2 {
		t.Errorf("keyring %d, want 2", n)
	}
}
