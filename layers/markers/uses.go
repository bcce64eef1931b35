package markers

import (
	"context"
	"fmt"
	"time"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
)

// RecordUse records that the session by used what rev names, at a time by its clock. Repeated uses are not recorded.
func RecordUse(ctx context.Context, db *state.DB, rev state.Rev, by string, at time.Time) error {
	st, err := trust.Outline(ctx, db, rev.Project.ID)
	if err != nil {
		return err
	}
	u := records.Use{By: by, At: at.UTC().Truncate(time.Second), Targets: st.Targets(rev)}
	if len(u.Targets) == 0 || st.Used(u) {
		return nil
	}
	return recordUse(ctx, db, rev.Project.ID, u, fmt.Sprintf("use %s  by %s", rev.Name(), records.ShortID(by)))
}

func recordUse(ctx context.Context, db *state.DB, p refs.Project, u records.Use, message string) error {
	return db.Refs.Update(ctx, p, message, func(tx *refs.Tx) error {
		tx.Trailer("Op", "use")
		tx.Trailer("Session", u.By)
		_, err := tx.Add(records.KindUse, u)
		return err
	})
}

// RecordGiven records that the session by got a context about sessions. It reports whether by is a session of the
// project with messages; otherwise nothing was used and nothing is recorded. Repeated uses are not recorded.
func RecordGiven(ctx context.Context, db *state.DB, p refs.Project, by string, sessions []string, at time.Time) (known bool,
	err error) {
	st, err := trust.Outline(ctx, db, p)
	if err != nil {
		return false, err
	}
	if s := st.Session(by); s == nil || s.Now().Scan.Messages == 0 {
		return false, nil
	}
	u := records.Use{By: by, At: at.UTC().Truncate(time.Second)}
	for _, id := range sessions {
		if one := (records.Use{By: by, Targets: []string{"session/" + id}}); id != by && st.Session(id) != nil &&
			!st.Used(one) {
			u.Targets = append(u.Targets, one.Targets[0])
		}
	}
	if len(u.Targets) == 0 {
		return true, nil
	}
	return true, recordUse(ctx, db, p, u, fmt.Sprintf("use %s  by %s",
		records.Numbered(len(u.Targets), "session", "sessions"), records.ShortID(by)))
}
