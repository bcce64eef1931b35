package records

// KindPurge is the kind of the record of a permanent deletion. It names nothing by the hash of its content, because
// anybody could test guesses of the deleted text against that hash and the rest of the session.
const KindPurge = "purge"

// CauseCopy is the cause of a purge of copies of messages that another purge names.
const CauseCopy = "copy"

// A Purge is the body of a "purge" record. A device that deletes text from its own lane for a purge writes the same
// body to its lane, to tell the others.
type Purge struct {
	Cause    string      `json:"cause"`              // revision, match, secret, tool, since, copy
	Sessions []string    `json:"sessions,omitempty"` // keys of sessions, which are not captured again
	Records  []string    `json:"records,omitempty"`  // device/lamport of other records
	Passages []Passage   `json:"passages,omitempty"`
	Labels   []LabelMark `json:"labels,omitempty"` // labels must not be used twice
}

// A Passage is a forgotten message or a part of one.
type Passage struct {
	Session    string `json:"session"` // key
	Generation int    `json:"generation"`
	N          int    `json:"n"`
	ID         string `json:"id,omitempty"`   // key of its UUID, if it has one
	Part       bool   `json:"part,omitempty"` // a device that does not know the part deletes the message
}

// A LabelMark is the last version number that a device used for a session.
type LabelMark struct {
	Session string `json:"session"` // key
	Device  string `json:"device"`
	Last    int    `json:"last"`
}
