package layers

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/refs"
)

// TestChangingFile adds a file again and again while another writes it anew, longer and shorter and with other
// secrets. Each capture may fail; what one stored can be had back, and was scanned as it was stored.
func TestChangingFile(t *testing.T) {
	t.Parallel()
	for _, rules := range []redact.Rules{{}, toyRules()} {
		o := testOptions()
		o.Rules = rules
		m := newMemory(t, o)
		path := filepath.Join(t.TempDir(), "s1.jsonl")
		var texts []string
		for _, secret := range []string{"TOKEN_aaaaaaaa", "TOKEN_bbbbbbbb"} {
			text := ""
			for i := range 400 {
				text += userLine(i, secret+strings.Repeat(" and more", 100))
			}
			texts = append(texts, text, text[:len(text)/2], text[:len(text)-len(secret)])
		}
		project := add(t, m, write(t, path, texts[0]))[0].Project.ID
		file, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		stop := make(chan bool)
		var writer sync.WaitGroup
		writer.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
					text := texts[i%len(texts)]
					if _, err := file.WriteAt([]byte(text), 0); err != nil {
						t.Error(err)
					}
					if err := file.Truncate(int64(len(text))); err != nil {
						t.Error(err)
					}
				}
			}
		})
		for range rounds(60) {
			_, err := m.Add(t.Context(), []Source{SourceOf(path)}, AddOptions{})
			var src *SourceError
			if err != nil && !errors.As(err, &src) {
				t.Error(err)
			}
		}
		close(stop)
		writer.Wait()
		got := restored(t, m, project, "s1")
		st, err := m.State(t.Context(), project)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range st.session("s1").Points {
			sc := transcript.NewScanner(transcript.Carry{}, func([]byte) [32]byte { return [32]byte{} })
			if err := m.WriteObject(t.Context(), project, p.Original, sc); err != nil {
				t.Fatal(err)
			}
			if sum := sc.Summary(); sum.Values != p.Scan.Values || sum.Opaque != p.Scan.Opaque || sum.Messages != p.Scan.Messages {
				t.Errorf("growth point %d of %d bytes: scanned %+v, holds %+v", i, len(got[i]), p.Scan, sum.Carry)
			}
		}
		t.Logf("%d growth points with rules %q", len(got), rules.ID)
		checkClean(t, m)
	}
}

// TestExactIsWhatWasRead gives a capture a file that is another one by the time its patch is made.
func TestExactIsWhatWasRead(t *testing.T) {
	t.Parallel()
	o := testOptions()
	o.Rules = toyRules()
	m := newMemory(t, o)
	path := filepath.Join(t.TempDir(), "s1.jsonl")
	one, two := userLine(1, "TOKEN_aaaaaaaa"), userLine(1, "TOKEN_bbbbbbbb")
	write(t, path, one)
	s, err := m.repo.Stage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c := &capture{m: m, src: SourceOf(path), rules: o.Rules}
	if err := c.stage(t.Context(), newState(refs.Project("0123456789abcdef")), s); err != nil {
		t.Fatal(err)
	}
	p, err := redact.Decode(c.patch)
	if err != nil {
		t.Fatal(err)
	}
	if c.file, err = os.Open(write(t, path, two).Path); err != nil {
		t.Fatal(err)
	}
	defer c.file.Close()
	if _, err := c.exact(place{}, int64(len(one)), true, p.Raw); !errors.Is(err, ErrChanging) {
		t.Errorf("exact of a file that changed: %v", err)
	}
}
