package capture_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/layers/trust"
)

// TestChangingFile adds a file again and again while another writes it anew, longer and shorter and with other
// secrets. Each capture may fail; what one stored can be had back, and was scanned as it was stored.
func TestChangingFile(t *testing.T) {
	t.Parallel()
	for _, rules := range []redact.Rules{{}, layerstest.ToyRules()} {
		o := layerstest.TestOptions()
		o.Rules = rules
		m := layerstest.NewMemory(t, o)
		path := filepath.Join(t.TempDir(), "s1.jsonl")
		var texts []string
		for _, secret := range []string{"TOKEN_aaaaaaaa", "TOKEN_bbbbbbbb"} {
			text := ""
			for i := range 400 {
				text += layerstest.UserLine(i, secret+strings.Repeat(" and more", 100))
			}
			texts = append(texts, text, text[:len(text)/2], text[:len(text)-len(secret)])
		}
		project := layerstest.Add(t, m, layerstest.Write(t, path, texts[0]))[0].Project.ID
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
		for range layerstest.Rounds(60) {
			_, err := capture.Add(t.Context(), m.DB, []capture.Source{capture.SourceOf(path)}, capture.AddOptions{})
			var src *capture.SourceError
			if err != nil && !errors.As(err, &src) {
				t.Error(err)
			}
		}
		close(stop)
		writer.Wait()
		got := layerstest.Restored(t, m, project, "s1")
		st, err := trust.State(t.Context(), m.DB, project)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range st.Session("s1").Points {
			sc := transcript.NewScanner(transcript.Carry{}, func([]byte) [32]byte { return [32]byte{} })
			if err := originals.WriteObject(t.Context(), m.DB, project, p.Original, sc); err != nil {
				t.Fatal(err)
			}
			if sum := sc.Summary(); sum.Values != p.Scan.Values || sum.Opaque != p.Scan.Opaque || sum.Messages != p.Scan.Messages {
				t.Errorf("growth point %d of %d bytes: scanned %+v, holds %+v", i, len(got[i]), p.Scan, sum.Carry)
			}
		}
		t.Logf("%d growth points with rules %q", len(got), rules.ID)
		layerstest.CheckClean(t, m)
	}
}
