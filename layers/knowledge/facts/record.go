package facts

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"
)

// A Record is a record about facts, concepts or rules: its kind, its place in the order of all records, its author, and a
// body that says what is stated and what it supersedes, resolves, refutes or confirms.
type Record struct {
	Kind    string
	ID      string // hexadecimal
	Lamport uint64
	Device  string
	Time    time.Time
	Body    json.RawMessage
}

// Compare orders records by (lamport, device, id): of two records about one thing the later one wins.
func (r Record) Compare(o Record) int {
	return cmp.Or(cmp.Compare(r.Lamport, o.Lamport), cmp.Compare(r.Device, o.Device), cmp.Compare(r.ID, o.ID))
}

// Each calls f with the index and the decoded body of each record of a kind.
func Each[T any](records []Record, kind string, f func(n int, r Record, body T)) error {
	for n, r := range records {
		if r.Kind != kind {
			continue
		}
		var body T
		if err := json.Unmarshal(r.Body, &body); err != nil {
			return fmt.Errorf("%s %.8s of device %.8s: %w", r.Kind, r.ID, r.Device, err)
		}
		f(n, r, body)
	}
	return nil
}
