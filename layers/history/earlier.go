package history

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs"
)

// Earlier returns the operations before lanes of a project started anew, as far as records remain of them, oldest first: a
// deletion drops the commits, whose messages may quote what was deleted. Each has the commit that the records are in now.
func Earlier(ctx context.Context, db *state.DB, p refs.Project) (out []refs.Entry, err error) {
	entries, err := Log(ctx, db, p, 0)
	if err != nil {
		return nil, err
	}
	starts := map[string]refs.Entry{} // of the lanes that started anew, by device
	for _, e := range entries {
		if e.Parent == "" && e.Trailer("Epoch") != "" {
			starts[e.Device] = e
		}
	}
	if len(starts) == 0 {
		return nil, nil
	}
	var all []refs.Record
	err = db.Refs.View(ctx, p, func(tx *refs.Tx) (err error) { all, err = tx.Records(ctx, nil); return err })
	if err == nil {
		all, err = state.Unpurged(all)
	}
	for _, r := range all {
		e, anew := starts[r.Device]
		if !anew || r.Lamport > e.Lamport {
			continue
		}
		subject, session := remaining(r)
		if subject == "" {
			continue
		}
		op := e.Trailer("Op")
		if op == "purge" { // that of another device
			op = "forget"
		}
		e.Time, e.Lamport, e.Subject, e.Trailers = r.Time, r.Lamport, subject+"  (before the "+op+")", nil
		if session != "" {
			e.Trailers = []string{"Mem-Op: capture", "Mem-Session: " + session}
		}
		out = append(out, e)
	}
	return out, err
}

// remaining returns what a record made, by the names of what exists, and the session that it captured; "" for none.
func remaining(r refs.Record) (subject, captured string) {
	var b struct{ Session, Label, Name string }
	if json.Unmarshal(r.Body, &b) != nil {
		return "", ""
	}
	switch r.Kind {
	case records.KindSession:
		return "capture " + records.ShortID(b.Session), b.Session
	case records.KindVersion:
		return fmt.Sprintf("compress %s:%s", records.ShortID(b.Session), b.Label), ""
	case records.KindComposition:
		return "compose " + b.Name, ""
	}
	return "", ""
}
