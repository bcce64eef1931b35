package state

import (
	"context"
	"slices"

	"github.com/memvcs/mem/refs"
)

// A history reads the records of a project since some tips, once.
type history struct {
	tx      *refs.Tx
	tips    []refs.Tip
	read    bool
	since   []refs.Tip
	follows bool
	records []refs.Record
}

// after returns the records that came after the tips. If a lane does not go on from them, follows is false
// and the records are all there are.
func (h *history) after(ctx context.Context, tips []refs.Tip) (records []refs.Record, follows bool, err error) {
	if h.read && slices.Equal(tips, h.since) {
		return h.records, h.follows, nil
	}
	h.read, h.since = true, tips
	if h.follows, err = h.tx.Follows(tips); err != nil {
		return nil, false, err
	}
	if !h.follows {
		tips = nil
	}
	h.records, err = h.tx.Records(ctx, tips)
	return h.records, h.follows, err
}
