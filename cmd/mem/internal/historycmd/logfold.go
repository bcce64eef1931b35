package historycmd

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"sync"

	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/refs"
)

// captureOps are the operations that capture sessions. Hooks capture a session after every turn: a day may have
// hundreds.
var captureOps = []string{"add", "capture", "import"}

// A fold is the sum of the captures of one session on one day. The entry is that of the newest.
type fold struct {
	refs.Entry
	captures int
	lines    int
	rewound  int    // turns
	first    string // the subject of the oldest
}

// subject returns the line of the fold.
func (f fold) subject() string {
	if f.captures < 2 {
		return f.Subject
	}
	what, _, _ := growth(f.first)
	if f.lines > 0 {
		what += fmt.Sprintf("  +%d line%s", f.lines, term.Plural(f.lines))
	}
	if f.rewound > 0 {
		what += fmt.Sprintf(", %d turn%s rewound", f.rewound, term.Plural(f.rewound))
	}
	space := "  "
	if f.lines > 0 || f.rewound > 0 {
		space = " "
	}
	return fmt.Sprintf("%s%s(%d captures)", what, space, f.captures)
}

// captured has the parts of the subject of a capture: "add 6ecd8c99  +12 lines, 2 turns rewound".
var captured = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(.*?)(?:  \+(\d+) lines?)?(?:, (\d+) turns? rewound)?$`)
})

// growth returns what a subject names, and the lines and the withdrawn turns that it counts.
func growth(subject string) (what string, lines, turns int) {
	parts := captured().FindStringSubmatch(subject)
	if parts == nil {
		return subject, 0, 0
	}
	lines, _ = strconv.Atoi(parts[2]) // digits, or nothing
	turns, _ = strconv.Atoi(parts[3])
	return parts[1], lines, turns
}

// Folded merges all captures of one session by one device on one day into one entry at the place of the newest.
func Folded(found []refs.Entry) (out []refs.Entry) {
	var day folds
	for _, en := range found {
		if date := en.Time.UTC().Format("2006-01-02"); date != day.date {
			out = day.appendTo(out)
			day = folds{date: date, at: map[[3]string]int{}}
		}
		day.add(en)
	}
	return day.appendTo(out)
}

// folds are the lines of one day.
type folds struct {
	date string
	list []fold
	at   map[[3]string]int // where captures of a project, device and session are in list
}

func (d *folds) add(en refs.Entry) {
	if session := en.Trailer("Session"); session != "" && slices.Contains(captureOps, en.Trailer("Op")) {
		key := [3]string{string(en.Project), en.Device, session}
		i, ok := d.at[key]
		if !ok {
			i = len(d.list)
			d.at[key] = i
			d.list = append(d.list, fold{Entry: en})
		}
		f := &d.list[i]
		f.captures++
		f.first = en.Subject
		_, lines, turns := growth(en.Subject)
		f.lines, f.rewound = f.lines+lines, f.rewound+turns
		return
	}
	d.list = append(d.list, fold{Entry: en})
}

func (d *folds) appendTo(out []refs.Entry) []refs.Entry {
	for _, f := range d.list {
		f.Subject = f.subject()
		out = append(out, f.Entry)
	}
	return out
}
