package hooks

import (
	"context"
	"errors"
	"time"

	"github.com/memvcs/mem/hooks/settings"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/handover"
	"github.com/memvcs/mem/layers/state"
)

// digestTime is how long SessionStart reads sessions that have no digest.
const digestTime = 800 * time.Millisecond

// start is SessionStart: it captures what earlier sessions left and hands over a context.
func (r *run) start(ctx context.Context) error {
	left, caught := r.catchUp(ctx)
	return errors.Join(caught, r.handOver(ctx, left))
}

// handOver hands over a context, if left session files are not captured yet.
func (r *run) handOver(ctx context.Context, left int) error {
	m, p, _, err := r.locate(ctx, r.p.Cwd)
	if err != nil {
		return err
	}
	s, err := r.Settings()
	if err != nil {
		return err
	}
	caller := r.recordCaller()
	if !r.wantsContext() {
		return caller
	}
	given, err := r.context(ctx, m, p, s, left)
	if err == nil && given.Text != "" {
		err = r.addContext(given.Text)
		r.requestUsage(given.Used)
		r.recordDelivered(given.Keys)
		r.recordHandover(p, given)
	}
	if err == nil && r.p.Source != sourceCompact && len(given.Actions) > 0 {
		r.recordActions(given.Actions)
	}
	if err == nil && given.Left > 0 && left == 0 && r.p.Transcript != "" {
		err = r.deferCatchUp()
	}
	return errors.Join(caller, err)
}

// context returns the context for the start of a session, or for its continuation after a compaction.
func (r *run) context(ctx context.Context, m *layers.Memory, p state.Project, s Settings,
	left int) (handover.Given, error) {
	o := handover.ContextOptions{
		Session: r.p.Session, Dir: r.p.Cwd, Program: r.Program(), Limit: min(s.ContextSize, maxAnswer),
		Behind: left, Decay: s.Decay,
	}
	end := r.Uptime() + digestTime
	o.Late = func() bool { return r.Uptime() > end }
	if r.p.Source == sourceCompact || r.event == settings.PreCompact {
		return handover.AtCompaction(ctx, m.DB, p, o)
	}
	return handover.Context(ctx, m.DB, p, o)
}
