package markers

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/version"
	"github.com/memvcs/mem/refs"
)

// An Edit says how a marker is changed.
type Edit struct {
	DryRun bool
	Tool   string // from which the marker is imported; "" for mem
}

// SetKeepit sets the weight of a marker of a session, also of a removed one. The transcript does not change.
func SetKeepit(ctx context.Context, db *state.DB, rev state.Rev, id string, w keepit.Weight,
	how Edit) (state.Keepit, error) {
	k, all, err := keepitByID(ctx, db, rev, id)
	if err != nil {
		return k, err
	}
	if k.Added {
		for _, x := range all {
			if x.ID != id && !x.Removed && state.Overlap(x.Mark, k.Mark) {
				return k, fmt.Errorf("message %d of %s: %w: %s, %s", k.Mark.Message, records.ShortID(rev.Session.ID), ErrMarked,
					x.ID, x.Mark.Weight)
			}
		}
	}
	k.Mark.Weight, k.Removed = w, false
	o := overrideOf(rev.Session, k)
	return k, write(ctx, db, rev, o, fmt.Sprintf("keepit set %s %s %s", records.ShortID(rev.Session.ID), id, w), how)
}

// RemoveKeepit removes a marker of a session: its text counts like any other. SetKeepit restores it.
func RemoveKeepit(ctx context.Context, db *state.DB, rev state.Rev, id string, how Edit) (state.Keepit, error) {
	k, _, err := keepitByID(ctx, db, rev, id)
	if err != nil {
		return k, err
	}
	k.Removed = true
	return k, write(ctx, db, rev, overrideOf(rev.Session, k), fmt.Sprintf("keepit rm %s %s", records.ShortID(rev.Session.ID),
		id), how)
}

// Errors of AddKeepit.
var (
	ErrNotTyped  = errors.New("the user did not type that message")
	ErrNoText    = errors.New("the message does not have that text")
	ErrManyTexts = errors.New("the message has that text more than once")
	ErrMarked    = errors.New("the text has a marker already")
)

// AddKeepit pins a text in the message that rev names, or the whole typed message if text is empty. White space in the
// text matches any white space.
func AddKeepit(ctx context.Context, db *state.DB, rev state.Rev, text string, w keepit.Weight,
	how Edit) (state.Keepit, error) {
	p := rev.Session.Now()
	items, err := Items(ctx, db, rev.Project.ID, rev.Session, p)
	if err != nil {
		return state.Keepit{}, err
	}
	i := slices.IndexFunc(items, func(it version.Item) bool { return it.N == rev.From && it.Kind == version.User })
	if i < 0 {
		return state.Keepit{}, fmt.Errorf("message %d of %s: %w", rev.From, records.ShortID(rev.Session.ID), ErrNotTyped)
	}
	start, end, err := Find(items[i].Text, text)
	if err != nil {
		return state.Keepit{}, fmt.Errorf("message %d of %s: %w", rev.From, records.ShortID(rev.Session.ID), err)
	}
	o := records.Override{Session: rev.Session.ID, Generation: p.Generation, Message: rev.From, Start: start, End: end,
		Weight: w, Added: true}
	k := state.Keepit{Mark: o.Mark(items[i].Text), Added: true, Context: state.LastWords(items[i].Text[:start], 60)}
	have := rev.Session.Keepits(compress.Input{Items: items}, p)
	for _, x := range have {
		if !x.Removed && state.Overlap(x.Mark, k.Mark) {
			return k, fmt.Errorf("message %d of %s: %w: %s, %s", rev.From, records.ShortID(rev.Session.ID), ErrMarked, x.ID,
				x.Mark.Weight)
		}
	}
	k.ID = nextAdded(rev.Session, o)
	return k, write(ctx, db, rev, o, fmt.Sprintf("keepit add %s#%d %s", records.ShortID(rev.Session.ID), rev.From, w),
		how)
}

// nextAdded returns the ID of an added marker.
func nextAdded(s *state.Session, o records.Override) string {
	n := 1
	for _, x := range s.Overrides {
		if !x.Added || x.Generation != o.Generation {
			continue
		}
		if x.Message == o.Message && x.Start == o.Start && x.End == o.End {
			break
		}
		n++
	}
	return "a" + strconv.Itoa(n)
}

// space matches what [strings.Fields] splits at.
const space = `[\s\v\x{85}\p{Z}]+`

// Find returns the offsets of text in what the user typed.
func Find(typed, text string) (start, end int, err error) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return 0, len(typed), nil
	}
	for i, w := range words {
		words[i] = regexp.QuoteMeta(w)
	}
	expr, err := regexp.Compile(strings.Join(words, space))
	if err != nil {
		return 0, 0, ErrNoText // invalid UTF-8
	}
	found := expr.FindAllStringIndex(typed, 2)
	switch len(found) {
	case 0:
		return 0, 0, ErrNoText
	case 1:
		return found[0][0], found[0][1], nil
	}
	return 0, 0, ErrManyTexts
}

func overrideOf(s *state.Session, k state.Keepit) records.Override {
	return records.Override{
		Session: s.ID, Generation: s.Now().Generation, Message: k.Mark.Message, Start: k.Mark.TextStart, End: k.Mark.TextEnd,
		Weight: k.Mark.Weight, Added: k.Added, Removed: k.Removed,
	}
}

// keepitByID returns the marker with an ID, and all markers.
func keepitByID(ctx context.Context, db *state.DB, rev state.Rev, id string) (state.Keepit, []state.Keepit, error) {
	all, err := AllKeepits(ctx, db, rev)
	if err != nil {
		return state.Keepit{}, nil, err
	}
	var have []string
	for _, k := range all {
		if k.ID == id {
			return k, all, nil
		}
		have = append(have, k.ID)
	}
	return state.Keepit{}, nil, &state.NotFoundError{What: "marker", Name: id, Of: records.ShortID(rev.Session.ID),
		Candidates: have}
}

func write(ctx context.Context, db *state.DB, rev state.Rev, o records.Override, message string, how Edit) error {
	if how.DryRun {
		return nil
	}
	if how.Tool != "" {
		message += ", imported from " + how.Tool
	}
	return db.Refs.Update(ctx, rev.Project.ID, message, func(tx *refs.Tx) error {
		tx.Trailer("Op", "keepit")
		tx.Trailer("Session", o.Session)
		_, err := tx.Add(records.KindKeepit, o)
		return err
	})
}

// A NearMiss is typed text that looks like a marker but is not one.
type NearMiss struct {
	Session *state.Session
	Message int
	keepit.Finding
}

// LintKeepits returns the near misses of a session, in order.
func LintKeepits(ctx context.Context, db *state.DB, rev state.Rev) ([]NearMiss, error) {
	items, err := Items(ctx, db, rev.Project.ID, rev.Session, rev.Session.Now())
	if err != nil {
		return nil, err
	}
	var out []NearMiss
	for _, it := range items {
		if it.Kind != version.User || rev.Kind == state.IsMessages && (it.N < rev.From || it.N > rev.To) {
			continue
		}
		for _, f := range keepit.Lint(it.Text) {
			out = append(out, NearMiss{rev.Session, it.N, f})
		}
	}
	return out, nil
}
