package secrets_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/objects/stream"
	"github.com/memvcs/mem/testdata/gen/plants"
)

// TestPlantedRemote captures sessions with a secret of every class in every coding, compresses and pushes them: no byte of a
// secret is in the remote, with packs unpacked and segments decompressed. What the rules do not find, which TestPlanted
// counts, is not planted here.
func TestPlantedRemote(t *testing.T) {
	layerstest.SkipShort(t)
	t.Parallel()
	ctx := context.Background()
	rules, err := redact.New(redact.Config{})
	if err != nil {
		t.Fatal(err)
	}
	h := layerstest.NewHub(t, "dir")
	m := h.Memory(t, "laptop")
	m.Opts.Rules = rules
	rng := rand.New(rand.NewPCG(77, 1))
	var bare []string
	for i, c := range plants.Codings() {
		id := fmt.Sprintf("session%d", i)
		b := []byte(strings.ReplaceAll(layerstest.UserLine(1, "begin"), "s1", id))
		for _, p := range plants.All() {
			for range 3 {
				line, left := c.Line(p, p.Make(rng))
				b, bare = append(b, line...), append(bare, left...)
			}
		}
		layerstest.Add(t, m, layerstest.Write(t, filepath.Join(t.TempDir(), id+".jsonl"), string(b)))
	}
	projects, err := trust.Projects(ctx, m.DB)
	if err != nil {
		t.Fatal(err)
	}
	st, err := trust.State(ctx, m.DB, projects[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range st.Sessions {
		rev := state.Rev{Kind: state.IsSession, Project: projects[0], Session: s}
		if _, err := derive.Compress(ctx, m.DB, rev, planning.Settings{Ratio: 2}, false); err != nil {
			t.Fatal(err)
		}
	}
	layerstest.PushAll(t, m)
	found := map[string]bool{}
	size, segments := 0, 0
	for content, segment := range everything(t, h.Dir) {
		size += len(content)
		if segment {
			segments++
		}
		for _, s := range bare {
			if len(s) >= 6 && bytes.Contains(content, []byte(s)) {
				found[s] = true
			}
		}
	}
	for s := range found {
		t.Errorf("%q is in the remote", s)
	}
	if size < 100_000 || segments < len(plants.Codings()) {
		t.Errorf("%d bytes and %d segments were looked at: too few", size, segments)
	}
	t.Logf("%d pieces of secrets, %d bytes of the remote", len(bare), size)
}

// everything yields each object of a repository, and each segment decompressed once more.
func everything(t *testing.T, git string) func(yield func([]byte, bool) bool) {
	return func(yield func([]byte, bool) bool) {
		out, err := exec.Command("git", "-C", git, "cat-file", "--batch-all-objects", "--batch").Output()
		if err != nil {
			t.Fatal(err)
		}
		r := bufio.NewReader(bytes.NewReader(out))
		for {
			var name, kind string
			var n int
			if _, err := fmt.Fscanf(r, "%s %s %d\n", &name, &kind, &n); err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			b := make([]byte, n+1)
			if _, err := io.ReadFull(r, b); err != nil {
				t.Fatal(err)
			}
			b = b[:n]
			if !yield(b, false) {
				return
			}
			head, _, err := stream.ParseHead(b)
			if err != nil {
				continue
			}
			if head.Offset > 0 {
				t.Fatal("a session grew, which this test does not read")
			}
			text, err := io.ReadAll(stream.NewReader(1, func(int) ([]byte, error) { return b, nil }))
			if err != nil {
				t.Fatal(err)
			}
			if !yield(text, true) {
				return
			}
		}
	}
}
