package forget

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs"
)

// A deletedText has the sums of the keys and of the texts of deleted messages.
type deletedText map[objects.Hash]bool

// shortest is the length in bytes of the shortest text of a message that is searched for in others. Shorter ones, such as
// "go on", are in many messages that have nothing to do with each other.
const shortest = 16

// sums yields the sums of a message.
func sums(v transcript.Value, yield func(objects.Hash) bool) {
	if key := originals.KeyOf(v); key != "" && !yield(objects.Sum([]byte(key))) {
		return
	}
	for text := range transcript.Content(v.Raw) {
		if text = strings.TrimSpace(text); len(text) >= shortest && !isID(text) && !yield(objects.Sum([]byte(text))) {
			return
		}
	}
}

func (d deletedText) add(v transcript.Value) {
	for sum := range func(yield func(objects.Hash) bool) { sums(v, yield) } {
		d[sum] = true
	}
}

// has reports whether a message is a copy of a deleted one or has a text of one.
func (d deletedText) has(v transcript.Value) bool {
	for sum := range func(yield func(objects.Hash) bool) { sums(v, yield) } {
		if d[sum] {
			return !IsForgotten(v.Raw)
		}
	}
	return false
}

// A Remaining is messages of a session that have the text of deleted ones.
type Remaining struct {
	Project string   // its name
	Revs    []string // for example 9b2c1d4e#12 and 9b2c1d4e#14..18
}

// remaining returns the messages of all projects that have the text of deleted ones.
func (d deletedText) remaining(ctx context.Context, db *state.DB) (out []Remaining, err error) {
	if len(d) == 0 {
		return nil, nil
	}
	projects, err := trust.Projects(ctx, db)
	if err != nil {
		return nil, err
	}
	for _, project := range projects {
		st, err := trust.Outline(ctx, db, project.ID)
		if err != nil {
			return nil, err
		}
		for _, s := range st.Sessions {
			var found []int
			for _, p := range lastPoints(s) {
				err := eachMessage(ctx, db, project.ID, p, func(v transcript.Value) {
					if d.has(v) {
						found = append(found, v.N)
					}
				})
				if err != nil && !unreadable(err) {
					return nil, err
				}
			}
			if len(found) > 0 {
				r := Remaining{Project: project.Name}
				for _, part := range ranges(found) {
					r.Revs = append(r.Revs, records.ShortID(s.ID)+"#"+part)
				}
				out = append(out, r)
			}
		}
	}
	return out, nil
}

// unreadable reports whether an error is that of data which is damaged or missing, as fsck reports it.
func unreadable(err error) bool {
	return errors.Is(err, objects.ErrNotFound) || errors.Is(err, objects.ErrCorrupt) || errors.Is(err, pack.ErrNotFound) || errors.Is(err, pack.ErrCorrupt)
}

// lastPoints returns the last point of each generation of each device.
func lastPoints(s *state.Session) (out []*records.Point) {
	for i := range s.Points {
		p := &s.Points[i]
		at := slices.IndexFunc(out, func(q *records.Point) bool {
			return q.Stamp.Device == p.Stamp.Device && q.Generation == p.Generation
		})
		if at < 0 {
			out = append(out, p)
		} else {
			out[at] = p
		}
	}
	return out
}

// eachMessage calls a function with each message up to a point.
func eachMessage(ctx context.Context, db *state.DB, project refs.Project, p *records.Point,
	yield func(transcript.Value)) error {
	return originals.Stream(ctx, db, project, p.Original, func(r io.Reader) error {
		for v, err := range transcript.Whole(r) {
			if err != nil {
				return err
			}
			yield(v)
		}
		return nil
	})
}
