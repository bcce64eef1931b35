package hooks

import (
	"context"
)

// start is SessionStart: catch up.
func (r *run) start(ctx context.Context) error {
	if err := r.catchUp(ctx); err != nil {
		r.note(string(r.event), r.p.Session, err) // the context is still worth having
	}
	return nil
}

// tool is the use of a tool: count it, and capture now and then.
func (r *run) tool(ctx context.Context) error {
	due, err := r.dueNow(r.p.Session)
	if err != nil || !due {
		return err
	}
	if r.there, err = checkTranscript(r.projects(), r.p.Transcript); err != nil {
		return err
	}
	return r.capture(ctx)
}

// subagent is SubagentStop: capture what the subagent did. Its directory links it to the session.
func (r *run) subagent(ctx context.Context) error { return r.capture(ctx) }

func (r *run) compact(ctx context.Context) error { return r.capture(ctx) }

func (r *run) stop(ctx context.Context) error { return r.capture(ctx) }

// prompt is UserPromptSubmit: it marks where an exchange begins.
func (r *run) prompt() error { return nil }

// end is SessionEnd: one durable note, and a worker of its own for the rest, because the client waits for a second and a half.
func (r *run) end(context.Context) error {
	wanted, err := r.leaveNote()
	if err != nil || !wanted {
		return err
	}
	return r.Detach("hook", Work)
}
