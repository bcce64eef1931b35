package app

import (
	"github.com/memvcs/mem/layers/facts"
)

// Strangers are the names of the devices in this memory that are not trusted, by id. What they wrote is listed
// with a mark, and never used.
type Strangers map[string]string

// Of returns the name of a device if it is not trusted, else "".
func (s Strangers) Of(device string) string { return s[device] }

// Note is what stands behind what a device wrote that is not trusted.
func (s Strangers) Note(device string) string {
	if s.Of(device) == "" {
		return ""
	}
	return " (device " + s.Of(device) + " is not trusted)"
}

// TrustCell shows a trust, or a device, and whether nothing of it is used.
func TrustCell(text, stranger string) Cell {
	if stranger == "" {
		return Cell{Full: text}
	}
	return Cell{Full: text + ",untrusted", Short: text + " !"}
}

// NoteCell says why something is hidden, or by whom it is that is not trusted.
func NoteCell(revoked, stranger string) Cell {
	switch {
	case revoked != "":
		return Cell{Full: "hidden: " + revoked}
	case stranger != "":
		return Cell{Full: "device " + stranger + " is not trusted"}
	}
	return Cell{Full: ""}
}

// HiddenText is a text and why it is hidden.
func HiddenText(text, why string) string {
	if why == "" {
		return text
	}
	return text + " (hidden: " + why + ")"
}

// A listedFact is a fact as lists print it with --json.
type ListedFact struct {
	facts.Fact
	Project  string `json:"project,omitempty"`   // with --all-projects
	Stranger string `json:"untrusted,omitempty"` // the device that stated it, if it is not trusted
}
