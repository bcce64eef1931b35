package hooks

import (
	"context"
	"fmt"
	"strings"

	"github.com/memvcs/mem/layers/brief"
	"github.com/memvcs/mem/layers/handover"
	"github.com/memvcs/mem/layers/records"
)

// compact is PreCompact: it captures, and tells an automatic compaction what memory has and which text must survive. Two
// runs for the same compaction print the same text.
func (r *run) compact(ctx context.Context) error {
	if err := r.capture(ctx); err != nil {
		return err
	}
	// each compaction gets its context once, also a second one that follows soon
	if err := remove(r.sessionFile(r.p.Session, "."+sourceCompact)); err != nil {
		return err
	}
	if r.p.Trigger == "manual" || r.memory == nil && !r.hasTranscript {
		return nil // the client would quote the text to the user; SessionStart hands it over
	}
	m, p, _, err := r.locate(ctx, r.p.Cwd)
	if err != nil {
		return err
	}
	h, err := handover.ReadContents(ctx, m.DB, p, r.p.Session)
	if err != nil || h.Messages == 0 {
		return err
	}
	settings, err := r.Settings()
	if err != nil {
		return err
	}
	text := compaction(h, r.Program(), records.ShortID(r.p.Session))
	doing, err := handover.AtCompaction(ctx, m.DB, p, handover.ContextOptions{Session: r.p.Session, Dir: r.p.Cwd,
		Program: r.Program(), Limit: min(settings.ContextSize, maxAnswer-brief.Units(text)), Unpinned: true})
	if err != nil {
		r.logError(string(r.event), r.p.Session, err) // the first part is printed without it
	}
	_, err = r.Stdout.Write([]byte(text + doing.Text))
	return err
}

// compaction returns the text for the compaction: how much memory has, and the pinned text, the heaviest first.
func compaction(h handover.Contents, program, id string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "mem has stored this session word for word up to its message %d", h.Messages)
	if h.Facts > 0 {
		fmt.Fprintf(&b, ", and %d facts of it", h.Facts)
	}
	fmt.Fprintf(&b, "; `%s show %s:L1` prints it, so details can be looked up later.\n", program, id)
	if len(h.Pinned) == 0 {
		return b.String()
	}
	b.WriteString("The user marked these passages to be kept. They must survive the summary word for word:\n")
	for i, k := range h.Pinned {
		line := fmt.Sprintf("- (%s) %s\n", k.Weight, brief.Plain(k.Text, 600))
		if brief.Units(b.String())+brief.Units(line) > maxAnswer/2 {
			fmt.Fprintf(&b, "%d more are in `%s keepit list %s`.\n", len(h.Pinned)-i, program, id)
			break
		}
		b.WriteString(line)
	}
	return b.String()
}
