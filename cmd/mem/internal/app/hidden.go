package app

import (
	"github.com/memvcs/mem/layers/knowledge/facts"
)

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
	Project string `json:"project,omitempty"` // with --all-projects
}
