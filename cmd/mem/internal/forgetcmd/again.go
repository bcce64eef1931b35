package forgetcmd

import (
	"fmt"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/forget"
	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/records"
)

// againCommand returns the command that makes a deleted version or composition again from what remains, "" if there is
// none.
func againCommand(t forget.DeletedItem) string {
	var words []string
	switch {
	case t.Version != nil:
		words = compressWords(*t.Version)
	case t.Composition != nil:
		words = composeWords(*t.Composition)
	default:
		return ""
	}
	if t.Project != "" {
		words = append(words, "-p", t.Project)
	}
	return term.Shell(words...)
}

// compressWords returns the command that asks for the settings of a version. A version that continued or compressed
// another one is made of the session.
func compressWords(v records.Version) []string {
	s := v.Settings
	words := []string{"mem", "compress", records.ShortID(v.Session)}
	add := func(option, value string) {
		if value != "" && value != "0" {
			words = append(words, option, value)
		}
	}
	add("-r", fmt.Sprint(s.Ratio))
	add("--tokens", fmt.Sprint(s.Tokens))
	switch {
	case s.Tiers != "":
		for t := range strings.FieldsSeq(s.Tiers) {
			add("--tier", t)
		}
	case s.Preset != "":
		add("--preset", s.Preset)
	default:
		add("-a", s.Aggressiveness)
	}
	if s.Keepit != string(planning.Decay) {
		add("--keepit", s.Keepit)
	}
	add("--skip", fmt.Sprint(s.Skip))
	if engine, _, _ := strings.Cut(v.Engine, "/"); !planning.IsExtract(v.Engine) && engine != "imported" {
		add("--engine", engine)
	}
	return words
}

// composeWords returns the command that composes the parts of a composition again.
func composeWords(c records.Composition) []string {
	words := []string{"mem", "compose", c.Name}
	for _, p := range c.Parts {
		part := records.ShortID(p.Session)
		if p.Label != "" {
			part += ":" + p.Label
		}
		words = append(words, part)
	}
	words = append(words, "--budget", fmt.Sprint(c.Budget))
	if c.Strategy != "" {
		words = append(words, "--allocate", c.Strategy)
	}
	return words
}
