package handover

import (
	"context"
	"encoding/binary"
	"strings"

	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs"
)

// Marks tell what the model repeated of what a tool had printed, see [repeated.Marks]. They are made with the
// digests and cached, a file for each session, so that a prompt reads no session.
const (
	marksVersion = 1
	mostMarked   = 8 << 20 // bytes of texts of the model in a session with marks
	mostRead     = 2 << 20 // bytes of a session without marks that a prompt reads
)

func marksPath(db *state.DB, s *state.Session) string {
	return db.CachePath("copies", s.Now().Original.String())
}

// readMarks returns the marks of a session and whether it has any.
func readMarks(db *state.DB, s *state.Session) (out []uint64, ok bool) {
	b, ok := state.ReadCacheBytes(marksPath(db, s))
	if !ok || len(b)%8 != 1 || b[0] != marksVersion {
		return nil, false
	}
	for b = b[1:]; len(b) > 0; b = b[8:] {
		out = append(out, binary.BigEndian.Uint64(b))
	}
	return out, true
}

// makeMarks makes the marks of a session if it has none. Of a session with more texts than mostMarked there are none.
func makeMarks(ctx context.Context, db *state.DB, p refs.Project, s *state.Session) error {
	if _, ok := readMarks(db, s); ok {
		return nil
	}
	l1, err := originals.L1(ctx, db, p, s.Now().Original, refine.Full)
	if err != nil {
		return err
	}
	defer l1.Close()
	var texts []string
	size := 0
	for e, err := range refine.Entries(l1) {
		if err != nil {
			return err
		}
		text := e.Input()
		if e.Role == "assistant" || e.Role == "summary" {
			text = e.Said
		}
		if size += len(text); size > mostMarked {
			return nil
		}
		texts = append(texts, strings.Clone(text))
	}
	p2 := passagesOf(texts)
	if err := originals.Stream(ctx, db, p, s.Now().Original, p2.Read); err != nil {
		return err
	}
	b := []byte{marksVersion}
	for _, mark := range p2.Marks() {
		b = binary.BigEndian.AppendUint64(b, mark)
	}
	db.WriteCacheBytes(marksPath(db, s), b)
	return nil
}
