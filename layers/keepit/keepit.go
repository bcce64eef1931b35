// Package keepit reads the markers with which a user pins text word for word, and decides which of them survive a
// compression.
//
// A marker is typed into a message as ##keepit0.80## followed by the text to keep. The number is a [Weight] in whole
// hundredths. [Scan] finds the markers of one message, [Lint] finds text that looks like a marker but is none. A
// [Pressure] is the strength of a compression (level, ratio, distance in sessions). [Pressure.Keeps] is the only
// place that compares a weight with it: the engine, the preview, commands and front ends all call it.
//
// Everything is integer arithmetic. With floats 0.50 + 0.30*1.0 <= 0.80 depends on the order of the operations, and
// a marker exactly on the threshold must survive.
//
// The caller chooses the texts to scan: only text that the user typed counts, so that a README in the output of a
// tool cannot pin itself.
package keepit

import (
	"fmt"
	"strings"
)

// Weight is the importance of a marker in hundredths, 0 to 100. A marker of weight 100 is pinned: it always survives.
type Weight int

// Pinned is the weight that always survives.
const Pinned Weight = 100

// ParseWeight parses a weight in its only written form, one digit, a dot and two decimals: "0.80". Other forms and
// weights above 1.00 are errors: a command must not guess, only [Scan] clamps.
func ParseWeight(s string) (Weight, error) {
	if len(s) != 4 || s[1] != '.' || !digit(s[0]) || !digit(s[2]) || !digit(s[3]) {
		return 0, fmt.Errorf("weight %q: want two decimals between 0.00 and 1.00, such as 0.80", s)
	}
	w := Weight(int(s[0]-'0')*100 + int(s[2]-'0')*10 + int(s[3]-'0'))
	if w > Pinned {
		return 0, fmt.Errorf("weight %q is out of range: want 0.00 to 1.00", s)
	}
	return w, nil
}

// presets are the named weights.
var presets = map[string]Weight{"pinned": Pinned, "critical": 90, "important": 75, "notable": 50, "minor": 25,
	"hint": 10}

// ParseTyped parses a weight in a command: as [ParseWeight] does, with one decimal or none ("0.9", "1"), or the name of
// a preset: pinned, critical, important, notable, minor or hint.
func ParseTyped(s string) (Weight, error) {
	if w, ok := presets[strings.ToLower(s)]; ok {
		return w, nil
	}
	switch {
	case s == "0" || s == "1":
		s += ".00"
	case len(s) == 3 && s[1] == '.':
		s += "0"
	}
	w, err := ParseWeight(s)
	if err != nil {
		err = fmt.Errorf("%w; or pinned, critical, important, notable, minor, hint", err)
	}
	return w, err
}

// String returns the weight as it is written in a marker: "0.80".
func (w Weight) String() string {
	sign := ""
	if w < 0 {
		sign, w = "-", -w
	}
	return fmt.Sprintf("%s%d.%02d", sign, int(w)/100, int(w)%100)
}

// MarshalText returns the same text as String.
func (w Weight) MarshalText() ([]byte, error) { return []byte(w.String()), nil }

// UnmarshalText parses a weight like [ParseWeight].
func (w *Weight) UnmarshalText(b []byte) error {
	v, err := ParseWeight(string(b))
	if err == nil {
		*w = v
	}
	return err
}

// Level says how much a compression may drop.
type Level int

// The levels, from the one that keeps the most. Minimal is also called light.
const (
	Minimal Level = iota
	Moderate
	Aggressive
)

var levelNames = [...]string{"minimal", "moderate", "aggressive"}

// ParseLevel parses minimal (or light, min), moderate (mod) or aggressive (agg), in any case.
func ParseLevel(s string) (Level, error) {
	switch strings.ToLower(s) {
	case "minimal", "light", "min":
		return Minimal, nil
	case "moderate", "mod":
		return Moderate, nil
	case "aggressive", "agg":
		return Aggressive, nil
	}
	return 0, fmt.Errorf("level %q: want minimal, moderate or aggressive", s)
}

// LevelFor is the default level for a ratio: minimal up to 5:1, moderate up to 15:1.
func LevelFor(ratio int) Level {
	switch {
	case ratio <= 5:
		return Minimal
	case ratio <= 15:
		return Moderate
	}
	return Aggressive
}

// String is the level's name.
func (l Level) String() string {
	if l < Minimal || l > Aggressive {
		return fmt.Sprintf("level(%d)", int(l))
	}
	return levelNames[l]
}

// MarshalText writes the level's name.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText parses a level like [ParseLevel].
func (l *Level) UnmarshalText(b []byte) error {
	v, err := ParseLevel(string(b))
	if err == nil {
		*l = v
	}
	return err
}

func digit(c byte) bool { return '0' <= c && c <= '9' }
