package compose

import (
	"fmt"
	"strings"

	"github.com/memvcs/mem/layers/compress"
)

// A Segment is a piece of a version.
type Segment = compress.Segment

// body returns the text of part i below its heading.
func body(i int, segments []Segment) string {
	var b strings.Builder
	for _, text := range pieces(i, segments) {
		b.WriteString(text)
		b.WriteString(between)
	}
	return b.String()
}

// pieces yields the role and the text of each run of segments of one side, in the form of
// [compress.Text] under a tag. Tool entries are the assistant's. Segments of white space are left out.
func pieces(i int, segments []Segment) func(yield func(string, string) bool) {
	return func(yield func(string, string) bool) {
		var run []Segment
		say := func() bool {
			return len(run) == 0 || yield(side(run[0]), tag(i, run)+"\n"+strings.TrimSuffix(compress.Text(run), "\n"))
		}
		for _, s := range segments {
			if strings.TrimSpace(s.Text) == "" {
				continue
			}
			if len(run) > 0 && side(run[0]) != side(s) {
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

// side returns whose words s are in a conversation.
func side(s Segment) string {
	if s.Role == user {
		return user
	}
	return assistant
}

// tag returns the line in front of a run: [mem 1#12..14], the number of the part in the list of
// sources, and the first and last of the messages it comes from. A session id in its place would cost
// twice as many tokens.
func tag(i int, run []Segment) string {
	first, last := 0, 0
	for _, s := range run {
		for _, r := range s.Src {
			if first == 0 || r[0] < first {
				first = r[0]
			}
			last = max(last, r[1])
		}
	}
	switch {
	case first == 0:
		return fmt.Sprintf("[mem %d]", i+1)
	case first == last:
		return fmt.Sprintf("[mem %d#%d]", i+1, first)
	default:
		return fmt.Sprintf("[mem %d#%d..%d]", i+1, first, last)
	}
}
