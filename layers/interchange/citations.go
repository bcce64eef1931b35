package interchange

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// messageNames returns a function for the UUIDs of the messages of transcripts, "" for a missing message or transcript.
func messageNames(ctx context.Context, db *state.DB, p refs.Project,
	cited map[MessageRef]bool) (func(MessageRef) string,
	error) {
	st, err := trust.Outline(ctx, db, p)
	if err != nil {
		return nil, err
	}
	names, wanted := map[MessageRef]string{}, map[objects.Hash][]MessageRef{}
	var order []objects.Hash
	for c := range cited {
		s := st.Session(c.Session)
		if s == nil {
			continue
		}
		h := s.Now().Original
		if c.Original != "" {
			if h, err = objects.ParseHash(c.Original); err != nil || s.Point(h) == nil {
				continue
			}
		}
		if wanted[h] == nil {
			order = append(order, h)
		}
		wanted[h] = append(wanted[h], c)
	}
	slices.SortFunc(order, objects.Hash.Compare)
	for _, h := range order {
		err := originals.Stream(ctx, db, p, h, func(r io.Reader) error { return nameMessages(r, wanted[h], names) })
		if err != nil && !errors.Is(err, objects.ErrNotFound) {
			return nil, err
		}
	}
	return func(c MessageRef) string { return names[c] }, nil
}

// nameMessages collects the UUIDs of the messages of a transcript.
func nameMessages(r io.Reader, wanted []MessageRef, names map[MessageRef]string) error {
	at, last := map[int][]MessageRef{}, 0
	for _, c := range wanted {
		at[c.Message], last = append(at[c.Message], c), max(last, c.Message)
	}
	for v, err := range transcript.Stream(r, originals.HugeValue) {
		if err != nil {
			return err
		}
		if v.N > last {
			return nil
		}
		if at[v.N] == nil || v.Opaque {
			continue
		}
		msg, err := transcript.Decode(v)
		if err != nil {
			continue // not a record: no UUID
		}
		for _, c := range at[v.N] {
			names[c] = msg.UUID
		}
	}
	return nil
}
