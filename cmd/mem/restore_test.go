package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/memvcs/mem/layers"
	sources "github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
)

// TestRestoreWithoutMem runs the script of docs/formats.md, which knows nothing of this program, on the
// sessions of the store of the format "mem 1": with growth, torn ends, cuts, several generations.
func TestRestoreWithoutMem(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"sh", "git", "zstd", "b3sum", "od", "awk"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("SKIPPED: restoring without mem needs %s", tool)
		}
	}
	script := filepath.Join(t.TempDir(), "restore.sh")
	must(t, os.WriteFile(script, []byte(fenced(t, filepath.Join("..", "..", "docs", "formats.md"), "sh")[0]), 0o600))
	dir := copyStoreV1(t)
	m, err := layers.Open(dir, state.Options{Now: time.Now})
	must(t, err)
	defer m.Close()
	projects, err := trust.Projects(t.Context(), m.DB)
	must(t, err)
	restored, growths := 0, 0
	for _, p := range projects {
		st, err := trust.State(t.Context(), m.DB, p.ID)
		must(t, err)
		for _, s := range st.Sessions {
			var want bytes.Buffer
			err := sources.WriteOriginal(t.Context(), m.DB, p.ID, s, s.Now(), &want)
			withheld := errors.Is(err, sources.ErrWithheld)
			var got, errs bytes.Buffer
			cmd := exec.CommandContext(t.Context(), "sh", script, dir, s.ID)
			cmd.Stdout, cmd.Stderr = &got, &errs
			cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "LC_ALL=C")
			switch ran := cmd.Run(); {
			case withheld && ran == nil:
				t.Errorf("%s: restored although its patch is on another device", s.ID)
			case !withheld && (ran != nil || !bytes.Equal(got.Bytes(), want.Bytes())):
				t.Errorf("%s: %v, %d bytes, want %d\n%s", s.ID, ran, got.Len(), want.Len(), &errs)
			case !withheld:
				restored++
				growths = max(growths, s.Now().Segments)
			}
		}
	}
	if restored < 9 || growths < 3 {
		t.Errorf("%d sessions restored, of at most %d segments", restored, growths)
	}
}

// fenced returns the blocks of a language in a page.
func fenced(t *testing.T, page, language string) []string {
	t.Helper()
	b, err := os.ReadFile(page)
	must(t, err)
	var blocks []string
	for _, rest := range strings.Split("\n"+string(b), "\n```"+language+"\n")[1:] {
		block, _, ok := strings.Cut(rest, "\n```")
		if !ok {
			t.Fatalf("%s: a block does not end", page)
		}
		blocks = append(blocks, block+"\n")
	}
	if len(blocks) == 0 {
		t.Fatalf("%s: no block of %s", page, language)
	}
	return blocks
}
