package capture_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/trust"
)

// TestSeenAgain looks at a file that cannot be read, and then can: what went wrong is no fact about the file.
func TestSeenAgain(t *testing.T) {
	t.Parallel()
	m := layerstest.NewMemory(t, layerstest.TestOptions())
	path := filepath.Join(t.TempDir(), "aaaa1111.jsonl")
	src := layerstest.Write(t, path, layerstest.UserLine(1, "hello")+layerstest.UserLine(2, "and more"))
	p := layerstest.Add(t, m, src)[0].Project.ID
	st, err := trust.State(t.Context(), m.DB, p)
	if err != nil {
		t.Fatal(err)
	}
	s := st.Session("aaaa1111")
	fi, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	f, found := capture.ClientFile{Path: path, Size: fi.Size(), Modified: fi.ModTime()}, capture.ReadFileCache(m.DB, p)
	found.ReadModified = true
	if err := os.Rename(path, path+".away"); err != nil {
		t.Fatal(err)
	}
	if _, changed := capture.ChangedFile(t.Context(), m.DB, p, s, f, found); !changed {
		t.Error("a file that cannot be read is unchanged")
	}
	if err := os.Rename(path+".away", path); err != nil {
		t.Fatal(err)
	}
	if _, changed := capture.ChangedFile(t.Context(), m.DB, p, s, f, found); changed {
		t.Error("a file that could not be read once is changed for ever")
	}
}
