package hooks

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/memvcs/mem/hooks/settings"
)

// runsSize is how long the file of runs may get; the one before it is kept beside it.
const runsSize = 64 << 10

// RunsFile returns the file in which hooks of the store in dir note how long they took.
func RunsFile(dir string) string { return filepath.Join(dir, "cache", "hooks.runs") }

// clock notes how long a hook took: the second, the event, microseconds, and whether something went wrong. It
// is one append, without a flush, for every use of a tool pays for it.
func (w *World) clock(e settings.Event, took time.Duration, failed bool) {
	file := RunsFile(w.Store)
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_APPEND|noFollow, 0o600)
	if err != nil {
		return // there is no memory yet
	}
	defer f.Close()
	if fi, err := f.Stat(); err == nil && fi.Size() > runsSize {
		putAside(file, runsSize)
	}
	state := "ok"
	if failed {
		state = "failed"
	}
	// a run that is not noted is not shown
	_, _ = f.WriteString(fmt.Sprintf("%d %s %d %s\n", w.Now().Unix(), e, took.Microseconds(), state))
}

// Pace is how the last runs of the hooks of one event did.
type Pace struct {
	Event    settings.Event `json:"event"`
	Runs     int            `json:"runs"`
	Failed   int            `json:"failed"`
	Last     time.Time      `json:"last"`
	P50, P95 time.Duration  `json:"-"`
}

// Paces returns how the last runs of hooks did, in the order of [Events], those of the worker last. An event
// that has not run is left out.
func Paces(dir string) []Pace {
	took := map[settings.Event][]time.Duration{}
	paces := map[settings.Event]Pace{}
	for _, file := range []string{RunsFile(dir) + ".1", RunsFile(dir)} {
		b, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(b)) {
			e, at, d, failed, ok := readRun(line)
			if !ok {
				continue // of a writer that was killed
			}
			p := paces[e]
			p.Event, p.Runs = e, p.Runs+1
			if failed {
				p.Failed++
			}
			if at.After(p.Last) {
				p.Last = at
			}
			paces[e], took[e] = p, append(took[e], d)
		}
	}
	var out []Pace
	for _, e := range append(settings.Events(), Work) {
		p, ok := paces[e]
		if !ok {
			continue
		}
		all := took[e]
		slices.Sort(all)
		p.P50, p.P95 = all[len(all)/2], all[min(len(all)-1, len(all)*95/100)]
		out = append(out, p)
	}
	return out
}

// readRun reads a line that clock wrote.
func readRun(line string) (e settings.Event, at time.Time, took time.Duration, failed, ok bool) {
	w := strings.Fields(line)
	if len(w) != 4 || !strings.HasSuffix(line, "\n") {
		return e, at, 0, false, false
	}
	second, err := strconv.ParseInt(w[0], 10, 64)
	micros, err2 := strconv.ParseInt(w[2], 10, 64)
	if err = cmp.Or(err, err2); err != nil || micros < 0 || micros > math.MaxInt64/1000 || w[3] != "ok" &&
		w[3] != "failed" {
		return e, at, 0, false, false
	}
	return settings.Event(w[1]), time.Unix(second, 0).UTC(), time.Duration(micros) * time.Microsecond,
		w[3] == "failed", true
}
