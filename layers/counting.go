package layers

import (
	"bytes"
	"context"

	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// A Count is how much something is. Tokens are always an estimate, by Method.
type Count struct {
	Tokens   int
	Method   string
	Messages int // 0 for plain text
	Bytes    int64
}

// CountBytes counts a transcript, of which only what a model reads counts as tokens, or any other text. The
// model is whose tokens are counted if a transcript does not say; "" is the newest.
func CountBytes(ctx context.Context, b []byte, model string, workers int) (Count, error) {
	if trimmed := bytes.TrimSpace(b); len(trimmed) > 0 && trimmed[0] == '{' {
		c := counted{}
		if err := c.extend(ctx, bytes.NewReader(b), max(1, workers)); err != nil {
			return Count{}, err
		}
		if len(c.Messages) > 0 {
			found := scanned(b)
			if model == "" {
				model = found.Model
			}
			by := tokens.For(model)
			return Count{by.Scale(c.Raw), by.ID(), found.Messages, int64(len(b))}, nil
		}
	}
	by := tokens.For(model)
	return Count{Tokens: by.Count(string(b)), Method: by.ID(), Bytes: int64(len(b))}, nil
}

// scanned returns what a scan of a transcript finds.
func scanned(b []byte) transcript.Summary {
	sc := transcript.NewScanner(transcript.Carry{}, func([]byte) [32]byte { return [32]byte{} })
	sc.Write(b) // never fails
	return sc.Summary()
}

// Count counts what rev names. A session is counted once and then known.
func (m *Memory) Count(ctx context.Context, rev Rev) (Count, error) {
	switch rev.Kind {
	case IsSession, IsOriginal:
		now := rev.Session.Now()
		c, err := m.counts(ctx, rev.Project.ID, rev.Session, now)
		by := m.counter(now)
		return Count{by.Scale(c.Raw), by.ID(), now.Scan.Messages, now.Size}, err
	}
	var b bytes.Buffer
	if err := m.Write(ctx, rev, "", &b); err != nil {
		return Count{}, err
	}
	size := int64(b.Len())
	switch {
	case rev.Kind == IsVersion:
		return Count{rev.Version.TokensOut, rev.Version.Counter, rev.Version.MessagesOut, size}, nil
	case rev.Kind == IsComposition:
		return Count{rev.Composition.Tokens, rev.Composition.Counter, rev.Composition.Messages, size}, nil
	}
	return CountBytes(ctx, b.Bytes(), m.opts.Model, m.opts.Workers)
}

// Objects returns the names of all objects of a project, sorted.
func (m *Memory) Objects(ctx context.Context, p refs.Project) ([]objects.Hash, error) {
	var names []objects.Hash
	err := m.repo.View(ctx, p, func(tx *refs.Tx) error {
		for h, err := range tx.All(ctx) {
			if err != nil {
				return err
			}
			names = append(names, h)
		}
		return nil
	})
	return names, err
}

// NameOf returns the name of the content of rev. That of a layer is found by making it.
func (m *Memory) NameOf(ctx context.Context, rev Rev) (objects.Hash, error) {
	if rev.Kind != IsL1 && rev.Kind != IsMessages {
		return rev.Hash, nil
	}
	h := objects.NewHasher()
	err := m.Write(ctx, rev, JSONL, h)
	return h.Sum(), err
}
