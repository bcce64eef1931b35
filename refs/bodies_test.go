package refs

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"
)

// TestMalformedBodies writes records whose bodies another store refuses: none is written where they are refused, the lane does not come
// in, and one that slipped in is absent and told with its device.
func TestMalformedBodies(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	bad := errors.New("says nothing")
	from, to := newRepo(t), newRepo(t)
	to.opts.Body = func(kind string, _ json.RawMessage) error {
		if kind == "bad" {
			return bad
		}
		return nil
	}
	say := func(r *Repo, kind string) error {
		return r.Update(ctx, testProject, kind, func(tx *Tx) error {
			_, err := tx.Add(kind, []int{1})
			return err
		})
	}
	if err := errors.Join(say(from, "good"), say(from, "bad")); err != nil {
		t.Fatal(err)
	}
	if err := say(to, "bad"); !errors.Is(err, bad) {
		t.Errorf("it writes what it refuses: %v", err)
	}
	lane := ownLane(t, from)
	copyLane(t, to, from, testProject, lane.Tip)
	if err := to.View(ctx, testProject, func(tx *Tx) error {
		all, err := tx.Records(ctx, nil)
		if slices.ContainsFunc(all, func(r Record) bool { return r.Kind == "bad" }) || !slices.ContainsFunc(all, func(r Record) bool { return r.Kind == "good" }) {
			t.Errorf("records: %v", all)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	var told []Problem
	if _, err := to.Check(ctx, true, func(p Problem) { told = append(told, p) }); err != nil {
		t.Fatal(err)
	}
	if len(told) != 1 || told[0].Device != lane.Device {
		t.Errorf("Check tells %+v", told)
	}
}
