package compress

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/tokens"
)

// TestAside holds that a version is the same whether the texts are in memory or most of them in a file, and what is rare has no number.
func TestAside(t *testing.T) {
	notShort(t)
	t.Parallel()
	c := tokens.For("claude-opus-4-6")
	for seed := range int64(3) {
		items, stats, marks := session(seed, 120)
		items = withDiffs(items)
		for i := range items {
			if i%7 == 0 && items[i].Kind == User {
				items[i].Text += oddities(seed + int64(i)) // behind the marks
			}
		}
		for _, s := range []Settings{{Tokens: 90}, {Tokens: 400}, {Ratio: 40}, {Ratio: 10}, {Ratio: 2}, {Preset: "standard"}} {
			s.Counter, s.Keepit = c, Decay
			p, _, err := Resolve(s, stats, marks)
			if err != nil {
				t.Fatal(err)
			}
			{
				want, wrong := Run(context.Background(), Input{Items: items, Output: outputs(items)}, p, Extract{})
				aside, f := lying(t, items)
				got, err := Run(context.Background(), Input{Items: aside.items, Output: outputs(items), Spill: aside.Spill}, p, Extract{})
				if fmt.Sprint(err) != fmt.Sprint(wrong) || !bytes.Equal(got.Body, want.Body) || got.Tokens != want.Tokens {
					t.Errorf("session %d, %d tokens: %d bytes, %v from a file, want %d bytes, %v", seed, p.Budget, len(got.Body), err, len(want.Body), wrong)
				}
				if f.written.Load() == 0 || f.read.Load() == 0 {
					t.Errorf("%d bytes were put aside, %d read", f.written.Load(), f.read.Load())
				}
			}
		}
	}
}

// oddities are texts of words of no language, of which some come again.
func oddities(seed int64) string {
	r := rand.New(rand.NewSource(seed))
	var b strings.Builder
	for i := range 200 {
		fmt.Fprintf(&b, " w%dx v%dY_%d", r.Intn(1e6), r.Intn(300), r.Intn(40))
		if i%9 == 8 {
			b.WriteString("\n")
		}
	}
	return b.String() + "\n漢字の" + string([]rune{rune(0x4e00 + r.Intn(2000)), rune(0x4e00 + r.Intn(2000)), '決', '定'})
}

// A lain is items whose texts lie in a file.
type lain struct {
	*Spill
	items []Item
}

func lying(t *testing.T, items []Item) (lain, *count) {
	n, dir := &count{}, t.TempDir()
	open := func() (File, error) {
		f, err := os.CreateTemp(dir, "")
		t.Cleanup(func() { f.Close() })
		return &counted{f, n}, err
	}
	l := lain{Spill: &Spill{Held: 2 << 10, Open: open}}
	for _, it := range items {
		l.items = append(l.items, l.KeepItem(it))
	}
	return l, n
}

// count is what went into files and out of them.
type count struct {
	written, read atomic.Int64
	broken        bool  // nothing can be read
	last          int64 // the read from which on none succeeds; 0: all do
	reads         atomic.Int64
}

// counted is a file that counts.
type counted struct {
	*os.File
	n *count
}

func (c *counted) WriteAt(b []byte, at int64) (int, error) {
	c.n.written.Add(int64(len(b)))
	return c.File.WriteAt(b, at)
}

func (c *counted) ReadAt(b []byte, at int64) (int, error) {
	if c.n.broken || c.n.last > 0 && c.n.reads.Add(1) >= c.n.last {
		return 0, io.ErrUnexpectedEOF
	}
	c.n.read.Add(int64(len(b)))
	return c.File.ReadAt(b, at)
}

// TestAsideFails holds that a file that cannot be had or written costs nothing but memory, and that one that cannot be read fails.
func TestAsideFails(t *testing.T) {
	t.Parallel()
	items, stats, marks := session(1, 300)
	p, _, err := Resolve(Settings{Ratio: 5, Counter: tokens.For(""), Level: new(keepit.Level)}, stats, marks)
	if err != nil {
		t.Fatal(err)
	}
	want, err := Run(context.Background(), Input{Items: items}, p, Extract{})
	if err != nil {
		t.Fatal(err)
	}
	full := &full{}
	for name, open := range map[string]func() (File, error){
		"no file":   func() (File, error) { return nil, errors.New("no directory") },
		"full disk": func() (File, error) { return full, nil },
	} {
		a := &Spill{Held: 1 << 10, Open: open}
		var kept []Item
		for _, it := range items {
			kept = append(kept, a.KeepItem(it))
		}
		got, err := Run(context.Background(), Input{Items: kept, Spill: a}, p, Extract{})
		if err != nil || !bytes.Equal(got.Body, want.Body) {
			t.Errorf("%s: %d bytes, %v, want %d", name, len(got.Body), err, len(want.Body))
		}
	}
	if full.tried == 0 {
		t.Error("nothing was written to the full disk")
	}
	a, f := lying(t, items)
	f.broken = true
	if _, err := Run(context.Background(), Input{Items: a.items, Spill: a.Spill}, p, Extract{}); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a file that cannot be read: %v", err)
	}
	a, f = lying(t, items)
	f.last = 1 << 62
	if _, err := Run(context.Background(), Input{Items: a.items, Spill: a.Spill}, p, Extract{}); err != nil {
		t.Fatal(err)
	}
	reads := f.reads.Load()
	a, f = lying(t, items)
	f.last = reads - 3 // the last reads are those after the choice of lines
	if _, err := Run(context.Background(), Input{Items: a.items, Spill: a.Spill}, p, Extract{}); !errors.Is(err,
		io.ErrUnexpectedEOF) {
		t.Errorf("a file whose last reads of %d fail: %v", reads, err)
	}
}

// full is a file on a disk that is full.
type full struct{ tried int }

func (f *full) WriteAt([]byte, int64) (int, error) {
	f.tried++
	return 0, errors.New("no space left")
}

func (f *full) ReadAt([]byte, int64) (int, error) { return 0, io.ErrUnexpectedEOF }
