package forget

import (
	"cmp"
	"encoding/json"
	"io"
	"slices"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/refs"
)

// A Kept counts the places in a lane where deleted text remains by design: names, identities and directories of
// projects, paths of transcripts, and commit messages about them.
type Kept struct {
	Device string
	Kind   string // of the record, or "commit"
	Places int
}

// keep adds to the count of a kind of place.
func (v *Prover) keep(device, kind string, places int) {
	same := func(k Kept) bool { return k.Device == device && k.Kind == kind }
	i := slices.IndexFunc(v.Out.Kept, same)
	if i < 0 {
		i = len(v.Out.Kept)
		v.Out.Kept = append(v.Out.Kept, Kept{Device: device, Kind: kind})
	}
	v.Out.Kept[i].Places += places
}

// sortKept sorts the counts by device, this device first, and kind.
func (v *Prover) sortKept() {
	own := v.M.Refs.Device().ID
	slices.SortFunc(v.Out.Kept, func(a, b Kept) int {
		if (a.Device == own) != (b.Device == own) {
			return map[bool]int{true: -1, false: 1}[a.Device == own]
		}
		return cmp.Or(cmp.Compare(a.Device, b.Device), cmp.Compare(a.Kind, b.Kind))
	})
}

// metadata searches a record or the message of a commit. A match in a place that no deletion changes is counted as
// kept, and found is false.
func (v *Prover) metadata(l refs.Lane, piece refs.Piece) (found bool, err error) {
	b, err := io.ReadAll(piece.Content)
	if err != nil {
		return false, err
	}
	v.count(int64(len(b)))
	secret := v.contains(b)
	own := l.Device == v.M.Refs.Device().ID
	if !secret && v.o.Match == nil || secret && own {
		return secret, nil
	}
	if piece.Kind == "commit" {
		found = secret || v.o.Match.Match(b)
		if found && own {
			v.keep(l.Device, "commit", 1)
			return false, nil
		}
		return found, nil // deleted when that device rewrites its lane
	}
	var r refs.Record
	if err := json.Unmarshal(b, &r); err != nil {
		return false, err
	}
	contains := func(body []byte) bool { return v.contains(body) || v.o.matcher().body(body, isID) }
	if !contains(r.Body) {
		return secret, nil
	}
	if unchanged(r, contains) {
		v.keep(l.Device, r.Kind, 1)
		return false, nil
	}
	return true, nil
}

// unchanged reports whether no deletion changes a record with a match: it is about a project, or only the path of a
// transcript matches.
func unchanged(r refs.Record, contains func([]byte) bool) bool {
	if r.Kind != records.KindSession {
		return slices.Contains(unforgettable, r.Kind)
	}
	var body map[string]json.RawMessage
	if json.Unmarshal(r.Body, &body) != nil {
		return false
	}
	delete(body, "source")
	rest, err := json.Marshal(body)
	return err == nil && !contains(rest)
}
