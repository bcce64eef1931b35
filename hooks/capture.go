package hooks

import (
	"context"
	"errors"
	"time"

	"github.com/memvcs/mem/layers/knowledge"
)

// syncDelay is the time after which a note is synced while its capture still runs. Most captures end earlier, and their
// sync makes that of the note unnecessary.
const syncDelay = 150 * time.Millisecond

// capture writes a note for the session, unless capture is off for it, and drains the spool. When it returns without an
// error, the capture or the note is durable.
func (r *run) capture(ctx context.Context) error {
	durable, err := r.noteSession()
	if err != nil || durable == nil {
		r.phase.Store(interruptible)
		return err
	}
	noted := func() error {
		err := durable()
		r.phase.CompareAndSwap(beforeNote, interruptible)
		return err
	}
	if ctx.Err() != nil {
		return noted()
	}
	r.After(syncDelay, func() { _ = noted() }) // from then on the time limit may end the process
	return errors.Join(r.drain(ctx, drainTime), noted())
}

// noteSession writes a note for the session and returns a function that makes it durable, or nil if there is nothing to
// capture.
func (r *run) noteSession() (durable func() error, err error) {
	agent, err := r.agent()
	if err != nil {
		return nil, err
	}
	if !r.hasTranscript && agent == "" {
		return nil, nil // the client has written nothing yet
	}
	if off, err := r.captureOff(); off || err != nil {
		return nil, err
	}
	return r.spoolNote(note{Version: noteVersion, Event: r.event, Session: r.p.Session, Path: r.p.Transcript, Agent: agent,
		Cwd: r.p.Cwd, Time: r.Now().UTC(), Claude: r.Claude})
}

// agent returns the path of the subagent's transcript that the payload names, "" if there is none.
func (r *run) agent() (string, error) {
	if r.p.AgentTranscript == "" {
		return "", nil
	}
	there, err := checkTranscript(r.projects(), r.p.AgentTranscript)
	if err != nil || !there {
		return "", err
	}
	return r.p.AgentTranscript, nil
}

// isStored reports whether the memory has the session of the hook.
func (r *run) isStored(ctx context.Context) bool {
	m, p, _, err := r.locate(ctx, r.p.Cwd)
	if err != nil {
		return false
	}
	s, err := knowledge.SessionOf(ctx, m.DB, p.ID, r.p.Session)
	return err == nil && s != nil
}
