package records

import "github.com/memvcs/mem/refs"

// KindRelation is the kind of records that relate sessions to other projects.
const KindRelation = "relation"

// A RelationBody is the body of a "relation" record. It relates a session of a project to another project, where search
// and suggest can find it. The last record of a session and a project wins.
type RelationBody struct {
	Session string       `json:"session"`
	To      refs.Project `json:"to"`
	Reason  string       `json:"reason,omitempty"` // one line, as a [Title]
	Removed bool         `json:"removed,omitempty"`
}

// Slot identifies the relation. The last record for a slot wins.
func (b RelationBody) Slot() string { return b.Session + "/" + string(b.To) }

func checkRelation(b *RelationBody) error {
	if err := wantSessions(b.Session); err != nil {
		return err
	}
	if err := wantProjects(b.To); err != nil {
		return err
	}
	if b.Removed && b.Reason == "" {
		return nil
	}
	_, err := ParseTitle(b.Reason)
	return err
}
