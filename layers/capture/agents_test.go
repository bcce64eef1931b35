package capture

import (
	"errors"
	"iter"
	"os"
	"path/filepath"
	"testing"

	"github.com/memvcs/mem/layers/transcript"
)

// A vanishing agent has one session whose file is deleted before its values are read, and one that can be read.
type vanishing struct{ transcript.Gemini }

func (vanishing) Sessions(string) ([]transcript.AgentSession, error) {
	return []transcript.AgentSession{{ID: "gone", Path: "gone.json", Packed: true}, {ID: "here", Path: "here.json", Packed: true}}, nil
}

func (vanishing) Values(s transcript.AgentSession) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		if s.ID == "gone" {
			yield(nil, os.ErrNotExist)
			return
		}
		yield([]byte("{}\n"), nil)
	}
}

// TestConvertAll converts the sessions that can be read, and reports the others.
func TestConvertAll(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	out, err := agentSources(vanishing{}, "", temp, nil)
	var unread *SourceError
	if !errors.As(err, &unread) || unread.Source.Path != "gone.json" {
		t.Errorf("agentSources: error %v, want a SourceError of gone.json", err)
	}
	if want := filepath.Join(temp, "here.jsonl"); len(out) != 1 || out[0].Path != want {
		t.Errorf("agentSources = %v, want %s", out, want)
	}
}
