package compose

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/version"
)

// Markdown returns composed.md: a heading with the sources, a section for each part, and before each piece a tag with
// its source and speaker. The texts are unchanged.
func (c Composition) Markdown() []byte {
	return []byte(strings.Join(c.Texts(), separator) + "\n")
}

// separator separates the texts of composed.md.
const separator = "\n\n"

// A turn contains consecutive texts of one side.
type turn struct {
	role  string
	texts []string
	part  int // the part in which it ends
}

// Roles of the Messages API.
const (
	user      = "user"
	assistant = "assistant"
)

// script is the role of a segment typed by a script in a headless run.
const script = "script"

// turns returns the text of c as a conversation that starts with the user, alternates, and ends with the assistant.
// Headings belong to the user.
func (c Composition) turns() []turn {
	turns := []turn{{role: user, texts: []string{c.heading()}}}
	say := func(role, text string, part int) {
		if last := &turns[len(turns)-1]; last.role == role {
			last.texts, last.part = append(last.texts, text), part
			return
		}
		turns = append(turns, turn{role, []string{text}, part})
	}
	for i, p := range c.Parts {
		say(user, p.heading(i), i)
		for role, text := range pieces(i, p.Segments) {
			say(role, text, i)
		}
	}
	say(assistant, c.footer(), max(0, len(c.Parts)-1))
	return turns
}

// heading returns the text before the first part.
func (c Composition) heading() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Memory: %s\n\n", oneLine(c.Name, 200))
	b.WriteString(
		"This is context from earlier sessions, put together by mem. [mem 1#12..14 user] above a text means: said by " +
			"the user in messages 12 to 14 of source 1; tool: what a tool printed; without a name: by the assistant, " + version.Signs + ".\n")
	for i, p := range c.Parts {
		fmt.Fprintf(&b, "\n%d. %s:%s b3:%s", i+1, oneLine(p.Session, 200), oneLine(p.Version, 80), p.Hash.Short())
		if p.Project != "" {
			b.WriteString(" of " + oneLine(p.Project, 80))
		}
	}
	return strings.TrimSpace(b.String())
}

// heading returns the text before p, part number i.
func (p Part) heading(i int) string {
	title := oneLine(p.Title, 80)
	if title == "" {
		title = "Session " + oneLine(p.Session, 200)
	}
	switch {
	case p.After > 0 && p.Of > 0:
		title += fmt.Sprintf(" (branches off from %d, at #%d)", p.Of, p.After+1)
	case p.After > 0:
		title += fmt.Sprintf(" (branches off from others, at #%d)", p.After+1)
	}
	if period := p.Period(); period != "" {
		title += ", " + period
	}
	return fmt.Sprintf("## %d. %s", i+1, title)
}

// Period returns the days of the session: "2026-01-15", "2026-01-15 to 2026-01-18", "" if they are not known.
func (p Part) Period() string { return Period(p.Begin, p.Date) }

// Period returns the days from begin to end, as [Part.Period] does.
func Period(begin, end time.Time) string {
	if end.IsZero() {
		return ""
	}
	first, last := begin.UTC().Format("2006-01-02"), end.UTC().Format("2006-01-02")
	if begin.IsZero() || first >= last {
		return last
	}
	return first + " to " + last
}

// footer returns the text after the last part.
func (c Composition) footer() string {
	return "[mem end of " + oneLine(c.Name, 200) + "]"
}

// oneLine returns s in one line without control characters, cut to n characters.
func oneLine(s string, n int) string {
	return tokens.Shorten(strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control)
	}), " "), n)
}
