package compress

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/transcript"
)

// bundled is a session of testdata.
type bundled struct {
	name  string
	items []Item
	stats Stats
	said  map[int]string // all text of a record
}

func bundledSessions(t *testing.T) (out []bundled) {
	t.Helper()
	root := filepath.Join("..", "..", "testdata", "transcripts")
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(file, ".jsonl") {
			return err
		}
		raw, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		var l1 bytes.Buffer
		if _, err := refine.Stream(bytes.NewReader(raw), refine.Full, nil, nil, &l1); err != nil {
			return err
		}
		s := bundled{name: filepath.Base(file), said: map[int]string{}}
		if s.items, err = Items(refine.Entries(&l1), nil, nil); err != nil {
			return err
		}
		for v := range transcript.Values(raw) {
			var x any
			if json.Unmarshal(v.Raw, &x) == nil {
				s.said[v.N] = strings.Join(stringsOf(x), "\n")
			}
			s.stats.Messages = append(s.stats.Messages, Message{First: v.N, Last: v.N, Raw: tokens.Raw(s.said[v.N])})
		}
		if len(s.items) > 0 {
			out = append(out, s)
		}
		return nil
	})
	if err != nil || len(out) < 5 {
		t.Fatalf("%d sessions, %v", len(out), err)
	}
	return out
}

// stringsOf returns the strings in a JSON value.
func stringsOf(x any) (out []string) {
	switch x := x.(type) {
	case string:
		out = append(out, x)
	case []any:
		for _, y := range x {
			out = append(out, stringsOf(y)...)
		}
	case map[string]any:
		for _, y := range x { // each string is looked up alone
			out = append(out, stringsOf(y)...)
		}
	}
	return out
}

// TestBundledSaidAsSaid holds that no line of any version of a bundled session is bent: each is an unbroken piece of the items of its
// messages or such pieces with gaps marked, or a list; and what is in the role of the user, not partial, is in a record word for word.
func TestBundledSaidAsSaid(t *testing.T) {
	notShort(t)
	t.Parallel()
	lines := map[string]int{}
	for _, s := range bundledSessions(t) {
		source := map[int]string{}
		for _, it := range s.items {
			source[it.N] += it.Text + "\n" + withoutTags(it.Text) + "\n"
		}
		for _, ratio := range []int{5, 10, 20, 30} {
			p, _, err := Resolve(Settings{Ratio: ratio, Keepit: Ignore, Counter: tokens.For("")}, s.stats, nil)
			if err != nil {
				continue // nothing would be left of a short one
			}
			r, err := Run(context.Background(), Input{Items: s.items}, p, Extract{})
			if err != nil {
				t.Fatal(err)
			}
			for _, seg := range r.Segments {
				if _, _, ok := listOf(seg.Text); ok {
					continue
				}
				for line := range strings.SplitSeq(seg.Text, "\n") {
					kind := saidAs(line, source[seg.Src[0][0]])
					lines[kind]++
					if kind == "" {
						t.Errorf("%s at %d:1: %q is not what message %d says", s.name, ratio, line, seg.Src[0][0])
					}
					if seg.Role == "user" && !seg.Partial && kind != "verbatim" {
						t.Errorf("%s at %d:1: %q stands for the user and is %q", s.name, ratio, line, kind)
					}
				}
			}
		}
	}
	if lines["verbatim"] < 100 {
		t.Errorf("only %v lines were looked at", lines)
	}
}

// TestBundledRetention holds that versions of bundled sessions at 10:1 name nearly all files that were edited, and keep more of the
// words of the user than their share of the text.
func TestBundledRetention(t *testing.T) {
	notShort(t)
	t.Parallel()
	files, named, words, kept := 0, 0, 0, 0
	for _, s := range bundledSessions(t) {
		p, _, err := Resolve(Settings{Ratio: 10, Keepit: Ignore, Counter: tokens.For("")}, s.stats, nil)
		if err != nil {
			continue
		}
		r, err := Run(context.Background(), Input{Items: s.items}, p, Extract{})
		if err != nil {
			t.Fatal(err)
		}
		text, v := Text(r.Segments), NewVocabulary()
		have := map[int32]bool{}
		for _, term := range v.Terms(text) {
			have[term] = true
		}
		for _, it := range s.items {
			switch {
			case it.Kind == Edit && it.Target != "":
				if files++; strings.Contains(text, path.Base(it.Target)) {
					named++
				}
			case it.Kind == User && it.length() < 4000:
				for _, term := range v.Terms(it.Text) {
					if words++; have[term] {
						kept++
					}
				}
			}
		}
	}
	t.Logf("%d of %d edits name a file that is kept, %d of %d words of the user", named, files, kept, words)
	if named*10 < files*8 || kept*10 < words*4 {
		t.Errorf("%d of %d edits name a file that is kept, %d of %d words of the user", named, files, kept, words)
	}
}
