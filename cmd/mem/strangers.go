package main

import (
	"context"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/facts"
)

// strangers are the names of the devices in this memory that are not trusted, by id. What they wrote is listed with a mark,
// and never used.
type strangers map[string]string

func (e *Env) strangers(ctx context.Context, m *layers.Memory) (strangers, error) {
	return m.Devices().Strangers(ctx)
}

// of returns the name of a device if it is not trusted, else "".
func (s strangers) of(device string) string { return s[device] }

// note is what stands behind what a device wrote that is not trusted.
func (s strangers) note(device string) string {
	if s.of(device) == "" {
		return ""
	}
	return " (device " + s.of(device) + " is not trusted)"
}

// trustCell shows a trust, or a device, and whether nothing of it is used.
func trustCell(text, stranger string) cell {
	if stranger == "" {
		return cell{full: text}
	}
	return cell{full: text + ",untrusted", short: text + " !"}
}

// noteCell says why something is hidden, or by whom it is that is not trusted.
func noteCell(revoked, stranger string) cell {
	switch {
	case revoked != "":
		return cell{full: "hidden: " + revoked}
	case stranger != "":
		return cell{full: "device " + stranger + " is not trusted"}
	}
	return cell{full: ""}
}

// hiddenText is a text and why it is hidden.
func hiddenText(text, why string) string {
	if why == "" {
		return text
	}
	return text + " (hidden: " + why + ")"
}

// A listedFact is a fact as lists print it with --json.
type listedFact struct {
	facts.Fact
	Project  string `json:"project,omitempty"`   // with --all-projects
	Stranger string `json:"untrusted,omitempty"` // the device that stated it, if it is not trusted
}
