package app

import (
	"github.com/memvcs/mem/layers/knowledge/facts"
)

// Untrusted maps the id of each device that is not trusted to its name. Lists mark the data of these devices.
type Untrusted map[string]string

// Of returns the name of the device if it is not trusted, else "".
func (u Untrusted) Of(device string) string { return u[device] }

// Note returns the text to append to the device's data: "" if the device is trusted.
func (u Untrusted) Note(device string) string {
	if u.Of(device) == "" {
		return ""
	}
	return " (device " + u.Of(device) + " is not trusted)"
}

// TrustCell returns the cell of a trust level or device; untrusted is the name of an untrusted device or "".
func TrustCell(text, untrusted string) Cell {
	if untrusted == "" {
		return Cell{Full: text}
	}
	return Cell{Full: text + ",untrusted", Short: text + " !"}
}

// NoteCell returns why something is hidden: its source is revoked, or its device is not trusted.
func NoteCell(revoked, untrusted string) Cell {
	switch {
	case revoked != "":
		return Cell{Full: "hidden: " + revoked}
	case untrusted != "":
		return Cell{Full: "device " + untrusted + " is not trusted"}
	}
	return Cell{Full: ""}
}

// HiddenText returns text, with the reason if it is hidden.
func HiddenText(text, why string) string {
	if why == "" {
		return text
	}
	return text + " (hidden: " + why + ")"
}

// A ListedFact is the JSON form of a fact in a list.
type ListedFact struct {
	facts.Fact
	Project   string `json:"project,omitempty"`   // with --all-projects
	Untrusted string `json:"untrusted,omitempty"` // the device, if it is not trusted
}
