package history_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/memvcs/mem/layers/history"
	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs"
)

// TestLogs compares the logs of two projects, which grow and are read from the cache, with the commits. The clock of
// one goes backwards: its log keeps the order of the commits, and both together have the order of the times.
func TestLogs(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	o := layerstest.TestOptions()
	o.Now = func() time.Time { return at }
	m := layerstest.NewMemory(t, o)
	var projects []state.Project
	for _, dir := range []string{"/home/dev/shop", "/home/dev/blog"} {
		projects = append(projects, layerstest.Add(t, m, layerstest.Session(t, dir[10:], dir, 3))[0].Project)
	}
	for step := range 90 {
		at = at.Add(time.Duration(step%7-3) * time.Minute)
		err := m.Refs.Update(ctx, projects[step%2].ID, fmt.Sprint("step ", step), func(tx *refs.Tx) error {
			_, err := tx.Add("other", map[string]int{"step": step})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if step%11 != 10 && step < 89 {
			continue
		}
		var all []refs.Entry
		for _, p := range projects {
			got, err := history.Log(ctx, m.DB, p.ID, 0)
			if err != nil {
				t.Fatal(err)
			}
			var want []refs.Entry
			for e, err := range m.Refs.Log(ctx, p.ID, nil) {
				if err != nil {
					t.Fatal(err)
				}
				want = append(want, e)
			}
			if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
				t.Fatalf("after step %d the log is\n%+v\nthe commits are\n%+v", step, got, want)
			}
			if some, err := history.Log(ctx, m.DB, p.ID, 2); err != nil || fmt.Sprintf("%+v", some) != fmt.Sprintf("%+v", want[:2]) {
				t.Fatalf("the newest two are %+v, %v, want %+v", some, err, want[:2])
			}
			all = append(all, want...)
		}
		slices.SortStableFunc(all, func(a, b refs.Entry) int { return b.Time.Compare(a.Time) })
		if got, err := history.ByTime(ctx, m.DB, projects, 0); err != nil || fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", all) {
			t.Fatalf("together\n%+v, %v\nwant\n%+v", got, err, all)
		}
	}
}
