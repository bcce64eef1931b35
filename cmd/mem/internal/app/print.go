package app

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/tokens"
)

// ProjectName returns the name of the project if lists of this run span all projects, else "".
func ProjectName(e *Env, p state.Project) string { return If(e.Opt.AllProjects, p.Name) }

// HeadLine prints the first line of a description: the thing, in colour, and its hash or state.
func HeadLine(e *Env, what, more string) {
	e.Printf("%s   %s\n", e.Style().Yellow(e.Safe(what)), e.Safe(more))
}

// Describe prints a description, a line for each name and its value; an empty value has none.
func (e *Env) Describe(pairs ...string) {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			e.Printf("%-9s %s\n", pairs[i]+":", e.Safe(pairs[i+1]))
		}
	}
}

// If returns text if it holds, else nothing.
func If(holds bool, text string) string {
	if holds {
		return text
	}
	return ""
}

// Fields prints lines of a description with the same name, with their cells in columns.
func Fields(e *Env, name string, rows [][]string) {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		for i, cell := range row[:len(row)-1] {
			row[i] = cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
		}
		e.Describe(name, strings.Join(row, "  "))
	}
}

// ModeOf returns the recipe of a version: "uniform 30:1 aggressive", "tiered standard", "of v001, uniform 30:1
// aggressive", and what mem made it for: ", for a composition".
func ModeOf(v *records.Version) string {
	mode := recipeOf(v.Settings)
	switch {
	case v.Source != "":
		mode = "of " + v.Source + ", " + mode
	case v.Since != "":
		mode = "since " + v.Since + ", " + mode
	}
	if !v.Asked() {
		mode += ", for a " + v.For
	}
	return mode
}

// SettingsText returns [ModeOf] and the settings that are not the defaults: ", preserve-all, skip 3, distance 5".
func SettingsText(v *records.Version) string {
	s, out := v.Settings, ModeOf(v)
	if s.Keepit != "" && s.Keepit != "decay" {
		out += ", " + s.Keepit
	}
	if s.Skip > 0 {
		out += fmt.Sprintf(", skip %d", s.Skip)
	}
	if s.Distance > 1 {
		out += fmt.Sprintf(", distance %d", s.Distance)
	}
	return out
}

func recipeOf(s records.VersionSettings) string {
	switch {
	case s.Tiers != "":
		return "tiered " + s.Tiers
	case s.Preset != "":
		return "tiered " + s.Preset
	case s.Ratio > 0:
		return fmt.Sprintf("uniform %d:1 %s", s.Ratio, s.Aggressiveness)
	}
	return fmt.Sprintf("uniform %s tokens %s", tokens.Commas(s.Tokens), s.Aggressiveness)
}
