package sync

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// A SessionChange is a session that a fetch or a push has brought to the other side, or that another device has hidden.
type SessionChange struct {
	Session string `json:"sessionId"`
	Title   string `json:"title"`
	Project string `json:"project"`
	By      string `json:"device"`
	Change  string `json:"change,omitempty"` // new or continued; "" if it is hidden
}

// changes returns the shown sessions that the lane of a device, called by, has captured since the commit old, "" for
// its begin, and those that it has hidden since then. Subagents are left out.
func changes(ctx context.Context, db *state.DB, project refs.Project, name, device, by, old string) (moved, hidden []SessionChange, err error) {
	var news []refs.Record
	if err = db.Refs.View(ctx, project, func(tx *refs.Tx) (err error) {
		since := slices.DeleteFunc(slices.Clone(tx.Tips()), func(t refs.Tip) bool { return t.Device == device })
		if old != "" {
			since = append(since, refs.Tip{Device: device, Commit: old})
		}
		news, err = tx.Records(ctx, since)
		return err
	}); err != nil {
		return nil, nil, err
	}
	st, err := trust.Outline(ctx, db, project)
	if err != nil {
		return nil, nil, err
	}
	captured, hides := map[objects.Hash]bool{}, map[string]bool{}
	for _, r := range news {
		var b records.SetBody
		if captured[r.ID] = r.Kind == records.KindSession; r.Kind != records.KindSet || json.Unmarshal(r.Body, &b) != nil ||
			!b.Value || b.Field != "deleted" {
			continue
		}
		if id, ok := strings.CutPrefix(b.Target, "session/"); ok {
			hides[id] = true
		}
	}
	for _, s := range st.Sessions {
		n := 0
		for i := range s.Points {
			if captured[s.Points[i].Stamp.Record] {
				n++
			}
		}
		x := SessionChange{s.ID, s.Title(), name, by, "new"}
		switch id, branch := records.CutDevice(s.ID); {
		case s.Parent() != "":
		case s.Deleted && (hides[id] || hides[s.ID]):
			x.Change = ""
			hidden = append(hidden, x)
		case n > 0 && s.Shown():
			if n < len(s.Points) || branch != "" {
				x.Change = "continued"
			}
			moved = append(moved, x)
		}
	}
	return moved, hidden, nil
}
