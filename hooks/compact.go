package hooks

import (
	"context"
)

// compact is PreCompact: it captures, and tells an automatic compaction what it loses. Two
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
	set, err := r.Settings()
	if err != nil {
		return err
	}
	given, err := r.context(ctx, m, p, set, 0)
	if err != nil {
		return err
	}
	_, err = r.Stdout.Write([]byte(given.Text))
	return err
}
