package historycmd

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

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
	what, _ := rewound(f.first)
	what, _ = grown(what)
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

// rewound parses the turns that a capture found withdrawn: 2 for "add 6ecd8c99  +12 lines, 2 turns rewound".
func rewound(subject string) (what string, turns int) {
	rest, ok := strings.CutSuffix(subject, " rewound")
	i := strings.LastIndex(rest, ", ")
	if !ok || i < 0 {
		return subject, 0
	}
	number, unit, _ := strings.Cut(rest[i+len(", "):], " ")
	n, err := strconv.Atoi(number)
	if err != nil || unit != "turn" && unit != "turns" {
		return subject, 0
	}
	return subject[:i], n
}

// grown parses the growth in the subject of a capture: 12 for "add 6ecd8c99  +12 lines".
func grown(subject string) (what string, lines int) {
	i := strings.LastIndex(subject, "  +")
	if i < 0 {
		return subject, 0
	}
	number, unit, _ := strings.Cut(subject[i+len("  +"):], " ")
	n, err := strconv.Atoi(number)
	if err != nil || unit != "line" && unit != "lines" {
		return subject, 0
	}
	return subject[:i], n
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
		what, turns := rewound(en.Subject)
		_, n := grown(what)
		f.lines, f.rewound = f.lines+n, f.rewound+turns
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
