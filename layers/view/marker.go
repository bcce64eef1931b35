package view

import (
	"strings"

	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/state"
)

// A Marker is a marker of a session.
type Marker struct {
	ID         string   `json:"markerId"`
	Session    string   `json:"sessionId"`
	Project    string   `json:"project,omitempty"` // with --all-projects
	UUID       string   `json:"messageUuid,omitempty"`
	Message    int      `json:"message"`
	Weight     Weight   `json:"weight"`
	Clamped    bool     `json:"clamped,omitempty"`
	Content    string   `json:"content"`
	Position   Position `json:"position"`
	Context    string   `json:"context"`
	CreatedAt  string   `json:"createdAt,omitempty"` // when it was typed
	Survived   []string `json:"survivedIn"`
	Summarised []string `json:"summarizedIn"`
	Set        bool     `json:"set,omitempty"`   // the weight was changed
	Added      bool     `json:"added,omitempty"` // no tag marks it
	Removed    bool     `json:"removed,omitempty"`
}

// A Position is the position of a marker in the text of its message, in bytes.
type Position struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// MarkerOf returns a marker of s, without what only its message says: its uuid and time.
func MarkerOf(s *state.Session, k state.Keepit) Marker {
	return Marker{ID: k.ID, Session: s.ID, Message: k.Mark.Message, Weight: Weight(k.Mark.Weight), Clamped: k.Mark.Clamped,
		Content: strings.TrimSpace(k.Mark.Text), Position: Position{k.Mark.Start, k.Mark.End}, Context: k.Context,
		Survived: list(k.Kept), Summarised: list(k.Lost), Set: k.Set, Added: k.Added, Removed: k.Removed}
}

// A Fate is what a compression does with a marker.
type Fate struct {
	ID        string       `json:"markerId,omitempty"`
	Message   int          `json:"message"`
	Weight    Weight       `json:"weight"`
	Survives  bool         `json:"survives"`
	Skipped   bool         `json:"skipped,omitempty"` // its message is left out
	Pinned    bool         `json:"pinned,omitempty"`
	Threshold *Thousandths `json:"threshold,omitempty"` // missing if it was not recorded
	Margin    *Thousandths `json:"margin,omitempty"`
	Content   string       `json:"content"`
}

// FateOf returns the fate of a marker. If judged is false, its threshold is unknown.
func FateOf(f planning.Fate, judged bool) Fate {
	out := Fate{Message: f.Mark.Message, Weight: Weight(f.Mark.Weight), Survives: f.Kept, Skipped: f.Skipped,
		Content: strings.TrimSpace(f.Mark.Text)}
	if judged {
		threshold, margin := Thousandths(f.Threshold), Thousandths(f.Margin)
		out.Pinned, out.Threshold, out.Margin = f.Pinned(), &threshold, &margin
	}
	return out
}

// FatesOf returns the fates of the markers of a new version.
func FatesOf(fates []planning.Fate) []Fate {
	out := []Fate{}
	for _, f := range fates {
		out = append(out, FateOf(f, true))
	}
	return out
}

// A DecayPreview is what pressure does with the markers of a session.
type DecayPreview struct {
	Session    string      `json:"sessionId"`
	Ratio      int         `json:"compressionRatio"`
	Level      string      `json:"aggressiveness"`
	Distance   int         `json:"sessionDistance"`
	Threshold  Thousandths `json:"threshold"`
	Sum        string      `json:"sum"` // how the threshold is computed
	Preserved  int         `json:"preserved"`
	Summarised int         `json:"summarized"`
	Markers    []Fate      `json:"markers"`
}

// DecayOf returns what p does with the markers of s, and their fates.
func DecayOf(s *state.Session, marks []state.Keepit, p keepit.Pressure) (DecayPreview, []planning.Fate) {
	out := DecayPreview{Session: s.ID, Ratio: p.Ratio, Level: p.Level.String(), Distance: p.Distance,
		Threshold: Thousandths(p.Threshold()), Sum: p.String(), Markers: []Fate{}}
	var fates []planning.Fate
	for _, k := range marks {
		f := planning.Fate{Mark: k.Mark, Pressure: p, Threshold: p.Threshold(), Margin: p.Margin(k.Mark.Weight),
			Kept: p.Keeps(k.Mark.Weight)}
		x := FateOf(f, true)
		x.ID = k.ID
		if f.Kept {
			out.Preserved++
		}
		out.Markers, fates = append(out.Markers, x), append(fates, f)
	}
	out.Summarised = len(marks) - out.Preserved
	return out, fates
}
