package records

// KindPurge is the kind of the record of a permanent deletion. It names nothing by the hash of its content, because
// anybody could test guesses of the deleted text against that hash and the rest of the session.
const KindPurge = "purge"

// A Purge is the body of a "purge" record. A device that had to forget something of its own lane for it writes
// the same body into its lane: that is how others know that it did.
type Purge struct {
	Cause    string      `json:"cause"`              // revision, match, secret, tool, since
	Sessions []string    `json:"sessions,omitempty"` // [purgeKey] of sessions: nothing about them is taken in again
	Records  []string    `json:"records,omitempty"`  // device/lamport of records that no session or passage names
	Passages []Passage   `json:"passages,omitempty"`
	Labels   []LabelMark `json:"labels,omitempty"` // so that no number is used twice
}

// A Passage is a message that was forgotten, all of it or a part.
type Passage struct {
	Session    string `json:"session"` // purgeKey
	Generation int    `json:"generation"`
	N          int    `json:"n"`
	ID         string `json:"id,omitempty"`   // purgeKey of its uuid, if it has one
	Part       bool   `json:"part,omitempty"` // who does not know which part forgets all of it
}

// A LabelMark is the last number that a device gave a version of a session.
type LabelMark struct {
	Session string `json:"session"` // purgeKey
	Device  string `json:"device"`
	Last    int    `json:"last"`
}
