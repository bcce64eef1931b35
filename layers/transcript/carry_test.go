package transcript_test

import (
	"bytes"
	"crypto/sha256"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/testdata/gen/story"
)

const testdata = "../../testdata/transcripts"

// TestCommitted compares the committed transcripts with what testdata/gen writes.
func TestCommitted(t *testing.T) {
	t.Parallel()
	want := story.Files()
	err := filepath.WalkDir(testdata, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name := filepath.ToSlash(strings.TrimPrefix(path, filepath.FromSlash(testdata+"/")))
		b, err := os.ReadFile(path)
		if !bytes.Equal(b, want[name]) {
			t.Errorf("%s is not what testdata/gen writes: go run ./testdata/gen", name)
		}
		delete(want, name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		t.Errorf("%s is missing: go run ./testdata/gen", name)
	}
}

// TestStory holds what each session is there for.
func TestStory(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file                             string
		values, opaque, messages, typed  int
		marked                           int // values that hold "##keepit"
		prompts                          int // typed messages that do
		session, cwd, branch, model, ver string
		title, parent                    string
		tail                             bool
	}{
		{"-home-dev-shop/" + story.Basket, 22, 0, 19, 2, 1, 1, story.Basket, "/home/dev/shop", "main", "claude-sonnet-4-20250514", "1.0.98", "Two requests at once lose lines of the cart.", "", false},
		{"-home-dev-shop/" + story.Mail, 23, 0, 14, 5, 1, 1, story.Mail, "/home/dev/shop", "main", "claude-sonnet-4-5-20250929", "2.0.28", "Confirmation mails through an outbox", "", false},
		{"-home-dev-shop/agent-5f0e21ab", 4, 0, 4, 0, 0, 0, story.Mail, "/home/dev/shop", "main", "claude-sonnet-4-5-20250929", "2.0.28", "", story.Mail, false},
		{"-home-dev----/" + story.Blog, 23, 0, 14, 2, 2, 2, story.Blog, "/home/dev/블로그", "main", "claude-opus-4-5-20251101", "2.1.12", "블로그 글 목록이 오래된 순서로 나와요.", "", false},
		{"-home-dev-shop/" + story.Torn, 39, 9, 11, 3, 1, 1, story.Torn, "/home/dev/shop", "main", "claude-opus-4-5-20251101", "2.1.51", "Broken order file", "", true},
		{"-home-dev-pricing/" + story.Rounded, 22, 0, 14, 2, 2, 2, story.Rounded, "/home/dev/pricing", "feature/tax", "claude-opus-4-6", "2.1.88", "消費税の計算を直してください。", "", false},
		{"-home-dev-shop/" + story.Stock, 72, 0, 27, 3, 3, 1, story.Stock, "/home/dev/shop", "stock", "claude-opus-4-7", "2.1.329", "Stock levels", "", false},
		{"-home-dev-shop/" + story.Cents, 193, 0, 110, 13, 8, 6, story.Cents, "/home/dev/shop", "cents", "claude-opus-4-5-20251101", "2.1.40", "Prices become whole cents", "", false},
		{"-home-dev-shop/" + story.Cents + "/subagents/agent-a7c3e19", 9, 0, 8, 0, 1, 0, story.Cents, "/home/dev/shop", "main", "claude-opus-4-5-20251101", "2.1.40", "", story.Cents, false},
	} {
		b, err := os.ReadFile(filepath.Join(testdata, "projects", c.file+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		sc := transcript.NewScanner(transcript.Carry{}, sha256.Sum256)
		sc.Write(b) // never fails
		got := sc.Summary()
		marked := 0
		for _, p := range got.Prompts {
			if p.Text != "" {
				marked++
			}
		}
		if got.Values != c.values || got.Opaque != c.opaque || got.Messages != c.messages || got.Typed != c.typed || got.Marked != c.marked || marked != c.prompts || got.Tail > 0 != c.tail {
			t.Errorf("%s: %d values, %d opaque, %d messages, %d typed, %d marked, %d marked prompts, %d bytes tail; want %+v", c.file, got.Values, got.Opaque, got.Messages, got.Typed, got.Marked, marked, got.Tail, c)
		}
		if got.SessionID != c.session || got.Cwd != c.cwd || got.Branch != c.branch || got.Model != c.model || got.Version != c.ver || got.Title != c.title || got.Parent() != c.parent {
			t.Errorf("%s: session %q, cwd %q, branch %q, model %q, version %q, title %q, parent %q; want %+v", c.file, got.SessionID, got.Cwd, got.Branch, got.Model, got.Version, got.Title, got.Parent(), c)
		}
	}
}
