package repair

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/refstest"
)

// TestMalformedBodies writes records whose bodies another store refuses: none is written where they are refused, the lane does not come
// in, and one that slipped in is absent and told with its device.
func TestMalformedBodies(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	bad := errors.New("says nothing")
	o := refstest.Options(t)
	o.Body = func(kind string, _ json.RawMessage) error {
		if kind == "bad" {
			return bad
		}
		return nil
	}
	from, to := refstest.New(t), refstest.NewOf(t, o)
	say := func(r *refs.Repo, kind string) error {
		return r.Update(ctx, refstest.Project, kind, func(tx *refs.Tx) error {
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
	lane := refstest.OwnLane(t, from)
	refstest.CopyLane(t, to, from, refstest.Project)
	if err := to.View(ctx, refstest.Project, func(tx *refs.Tx) error {
		all, err := tx.Records(ctx, nil)
		if slices.ContainsFunc(all, func(r refs.Record) bool { return r.Kind == "bad" }) || !slices.ContainsFunc(all, func(r refs.Record) bool { return r.Kind == "good" }) {
			t.Errorf("records: %v", all)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	var told []Problem
	if _, err := Check(ctx, to, true, func(p Problem) { told = append(told, p) }); err != nil {
		t.Fatal(err)
	}
	if len(told) != 1 || told[0].Device != lane.Device {
		t.Errorf("Check tells %+v", told)
	}
}
