package compose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/version"
)

// A Segment is a piece of a version.
type Segment = version.Segment

// body returns the text of part i below its heading.
func body(i int, segments []Segment) string {
	var b strings.Builder
	for _, text := range pieces(i, segments) {
		b.WriteString(text)
		b.WriteString(separator)
	}
	return b.String()
}

// pieces yields the role and the text of each run of segments of one side: a tag, then the texts, each on a line of its
// own. Calls of tools and lists belong to the assistant. Segments of white space and the headings of exchanges, for which the
// tags stand, are left out.
func pieces(i int, segments []Segment) func(yield func(string, string) bool) {
	return func(yield func(string, string) bool) {
		var run []Segment
		say := func() bool {
			return len(run) == 0 || yield(side(run[0]), tag(i, run)+texts(run))
		}
		for _, s := range segments {
			if strings.TrimSpace(s.Text) == "" || s.Role == "heading" {
				continue
			}
			if len(run) > 0 && label(run[0]) != label(s) {
				if !say() {
					return
				}
				run = nil
			}
			run = append(run, s)
		}
		say()
	}
}

// side returns the role of s in the conversation. Only complete text typed by the user has the role user; an excerpt is
// text of mem under its own tag.
func side(s Segment) string {
	if s.Role == user && !s.Partial {
		return user
	}
	return assistant
}

// label returns the speaker in the tag of s, "" for the assistant. Text of a script in a headless run is not the
// user's, and what a tool printed is nobody's.
func label(s Segment) string {
	switch {
	case s.Role == user && s.Partial:
		return user + ", in part"
	case s.Role == user, s.Role == script:
		return s.Role
	case s.Role == "tool" && s.Label == "" && s.Code != "": // of a whole session
		return "tool"
	}
	return ""
}

// texts returns the texts of a run, each after a line end, with an empty line between them. Text of the user is as it
// was typed, other text as in a version.
func texts(run []Segment) string {
	var b strings.Builder
	for i, s := range run {
		if i > 0 {
			b.WriteByte('\n')
		}
		if s.Role == user {
			b.WriteByte('\n')
			b.WriteString(s.Text)
			continue
		}
		for _, l := range s.Lines() {
			b.WriteByte('\n')
			b.WriteString(l.Text)
		}
	}
	return b.String()
}

// tag returns the line before a run: [mem 1#12..14 user], with the number of the part in the list of sources, the first
// and last message of the texts (not of the lists, which can be of messages before it), and the speaker if it is not the assistant: "user" for complete text typed by the user, "user, in
// part" for excerpts. A session id instead of the number would cost twice as many tokens.
func tag(i int, run []Segment) string {
	first, last := 0, 0
	all := !slices.ContainsFunc(run, func(s Segment) bool { return !s.Gathered() })
	for _, s := range run {
		if s.Gathered() && !all {
			continue
		}
		for _, r := range s.Src {
			if first == 0 || r[0] < first {
				first = r[0]
			}
			last = max(last, r[1])
		}
	}
	tag := fmt.Sprintf("[mem %d", i+1)
	if first > 0 {
		tag += fmt.Sprintf("#%d", first)
	}
	if last > first {
		tag += fmt.Sprintf("..%d", last)
	}
	if who := label(run[0]); who != "" {
		tag += " " + who
	}
	return tag + "]"
}
