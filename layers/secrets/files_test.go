package secrets_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/layers/secrets"
)

// zeros is a source of randomness that makes the same device each time.
type zeros struct{ n byte }

func (z *zeros) Read(p []byte) (int, error) {
	for i := range p {
		z.n = z.n*167 + 13
		p[i] = z.n
	}
	return len(p), nil
}

// TestTwins makes two stores that differ in nothing but the value of a secret, also in its length: their lanes of
// memory.git are the same commits, and the secret is nowhere in them, packed or unpacked.
func TestTwins(t *testing.T) {
	layerstest.SkipShort(t)
	t.Parallel()
	ctx := context.Background()
	rules, err := redact.New(redact.Config{})
	if err != nil {
		t.Fatal(err)
	}
	var tips []string
	dir := t.TempDir()
	for _, secret := range []string{"ghp_4kTz9QmWv2XyB7nLc5RdH8sJf3PgA6uE1oKi", "ghp_9QmWv2XyB7nLc5RdH8sJf3PgA6uE1oKi4kTz", "ghp_Xy9QmWv2XyB7nLc5RdH8sJf3PgA6uE1oKi4kTzAb7"} {
		o := layerstest.TestOptions()
		o.Rules, o.Rand = rules, &zeros{}
		m := layerstest.NewMemory(t, o)
		text, overflow := layerstest.Secretive(secret)
		path := filepath.Join(dir, "s1.jsonl")
		file := layerstest.Write(t, filepath.Join(dir, "tool.txt"), overflow).Path
		var tip string
		lines := strings.SplitAfter(text, "\n")
		for _, n := range []int{1, 20, len(lines)} {
			part := strings.Join(lines[:n], "")
			src := layerstest.Write(t, path, part)
			src.Path, src.Files = path, []string{file}
			p := layerstest.Add(t, m, src)[0].Project.ID
			tip = tipOf(t, m, p)
			if got := layerstest.Restored(t, m, p, "s1"); string(got[len(got)-1]) != part {
				t.Fatal("the original does not come back")
			}
			leaks, err := secrets.ScanOutgoing(ctx, m.DB, p, layerstest.Never)
			if err != nil || len(leaks) > 0 {
				t.Errorf("leaks %v, %v", leaks, err)
			}
		}
		layerstest.NoBytes(t, filepath.Join(m.Refs.Dir(), "memory.git"), secret)
		tips = append(tips, tip)
	}
	if tips[0] != tips[1] || tips[0] != tips[2] {
		t.Errorf("commits %v, want the same", tips)
	}
}
