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

// runsSize is the maximal size of [RunsFile]. A longer one is renamed to "hooks.runs.1".
const runsSize = 64 << 10

// RunsFile returns the log of hook runs of the store in dir.
func RunsFile(dir string) string { return filepath.Join(dir, "cache", "hooks.runs") }

// recordTiming appends a run to the log: seconds since 1970, the event, microseconds, and "ok" or "failed". It does not
// sync, because every use of a tool pays for it. It writes nothing if there is no memory yet.
func (w *World) recordTiming(e settings.Event, took time.Duration, failed bool) {
	state := "ok"
	if failed {
		state = "failed"
	}
	line := fmt.Appendf(nil, "%d %s %d %s\n", w.Now().Unix(), e, took.Microseconds(), state)
	_ = appendRotated(RunsFile(w.Store), runsSize, line) // as above; a run that is not logged is not shown
}

// A Timing summarises the logged runs of one event.
type Timing struct {
	Event  settings.Event `json:"event"`
	Runs   int            `json:"runs"`
	Failed int            `json:"failed"`
	Last   time.Time      `json:"last"`
	P50    float64        `json:"p50Ms"` // inside the program, in milliseconds
	P95    float64        `json:"p95Ms"`
}

// Timings returns the timings of the events that have run, in the order of [settings.Events], the worker last.
func Timings(dir string) []Timing {
	took := map[settings.Event][]time.Duration{}
	timings := map[settings.Event]Timing{}
	for _, file := range []string{RunsFile(dir) + ".1", RunsFile(dir)} {
		b, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(b)) {
			e, at, d, failed, ok := parseTiming(line)
			if !ok {
				continue // the writer was killed
			}
			p := timings[e]
			p.Event, p.Runs = e, p.Runs+1
			if failed {
				p.Failed++
			}
			if at.After(p.Last) {
				p.Last = at
			}
			timings[e], took[e] = p, append(took[e], d)
		}
	}
	var out []Timing
	for _, e := range append(settings.Events(), Work) {
		p, ok := timings[e]
		if !ok {
			continue
		}
		all := took[e]
		slices.Sort(all)
		ms := func(at int) float64 { return float64(all[min(len(all)-1, at)].Microseconds()) / 1000 }
		p.P50, p.P95 = ms(len(all)/2), ms(len(all)*95/100)
		out = append(out, p)
	}
	return out
}

// parseTiming parses a line of the log.
func parseTiming(line string) (e settings.Event, at time.Time, took time.Duration, failed, ok bool) {
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
