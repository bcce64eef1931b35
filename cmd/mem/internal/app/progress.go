package app

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/clipperhouse/displaywidth"
	"github.com/memvcs/mem/cmd/mem/internal/term"
)

const (
	progressAfter = 500 * time.Millisecond // shorter work shows no progress
	progressEvery = 100 * time.Millisecond
)

// A Progress is a line on stderr that shows how much of the work is done. It appears only on a terminal and after
// half a second, and is erased at the end. It is safe for concurrent use; a nil Progress does nothing.
type Progress struct {
	mu    sync.Mutex
	e     *Env
	what  string
	total int64 // 0 if unknown
	bytes bool
	done  int64
	start time.Duration
	next  time.Duration // when to draw again
	drawn bool
	Idle  string // shown instead of a count while nothing is done; "" for none
	over  bool
}

// Progress returns a progress line for total units of work. The text what is such as "adding sessions".
func (e *Env) Progress(what string, total int64) *Progress {
	if !e.Term.Stderr || e.Opt.Quiet || e.Opt.JSON || e.Getenv("TERM") == "dumb" || e.Getenv("ACCESSIBLE") != "" {
		return nil
	}
	start := e.Uptime()
	return &Progress{e: e, what: what, total: total, start: start, next: start + progressAfter}
}

// ProgressBytes is like [Env.Progress] for work that is counted in bytes.
func (e *Env) ProgressBytes(what string, total int64) *Progress {
	p := e.Progress(what, total)
	if p != nil {
		p.bytes = true
	}
	return p
}

// Add counts n more units as done.
func (p *Progress) Add(n int64) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += n
	now := p.e.Uptime()
	if now < p.next || p.over {
		return
	}
	p.next, p.drawn = now+progressEvery, true
	fmt.Fprintf(p.e.Stderr, "\r%s\x1b[K", p.line(now-p.start))
}

// End erases the line.
func (p *Progress) End() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.drawn {
		fmt.Fprint(p.e.Stderr, "\r\x1b[K")
	}
	p.drawn = false
	p.over = true
}

// line returns the text of the progress line after the time spent.
func (p *Progress) line(spent time.Duration) string {
	count := func(n int64) string {
		if p.bytes {
			return BytesText(n)
		}
		return fmt.Sprint(n)
	}
	text := fmt.Sprintf("%s  %s", term.SanitizeLine(p.what), count(p.done))
	if p.done == 0 && p.Idle != "" {
		text = fmt.Sprintf("%s  %s  %s", term.SanitizeLine(p.what), p.Idle, clock(spent))
	}
	if p.total > 0 {
		share := min(float64(p.done)/float64(p.total), 1)
		full := int(share * 20)
		text += fmt.Sprintf(" of %s  [%s%s] %3.0f%%", count(p.total), strings.Repeat("=", full),
			strings.Repeat(" ", 20-full), share*100)
		if share > 0.02 {
			text += "  " + clock(time.Duration(float64(spent)*(1-share)/share)) + " left"
		}
	}
	screen := 80
	if p.e.Term.Width != nil {
		if w := p.e.Term.Width(); w > 0 {
			screen = w
		}
	}
	return displaywidth.TruncateString(text, screen-1, "…")
}

func clock(d time.Duration) string {
	return fmt.Sprintf("%d:%02d", int(d.Minutes()), int(d.Seconds())%60)
}
