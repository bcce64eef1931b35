package hooks

import (
	"context"
	"strings"

	"github.com/memvcs/mem/layers/handover"
	"github.com/memvcs/mem/objects"
)

// prompt is UserPromptSubmit: it marks the start of an exchange and hands over what fits the prompt.
func (r *run) prompt(ctx context.Context) error {
	if err := r.changeTurn(func(t *turn) { t.Prompt, t.Asked = r.p.Prompt, false }); err != nil {
		return err
	}
	r.phase.Store(interruptible)
	if r.p.Source != "" && r.p.Source != "user" {
		return nil // no person typed it
	}
	if r.Getenv("MEM_RECALL") == "off" || strings.TrimSpace(r.p.Text) == "" {
		return nil
	}
	s, err := r.Settings()
	if err != nil || !s.Recall || s.PromptSize == 0 {
		return err
	}
	occasion := objects.Sum([]byte(r.p.Prompt + "\n" + r.p.Text)).String()[:12] + ".prompt"
	if !r.claim(occasion, sameEvent) {
		return nil
	}
	m, p, known, err := r.locate(ctx, r.p.Cwd)
	if err != nil || !known {
		return err
	}
	given, err := handover.Recall(ctx, m.DB, p, r.p.Text, handover.ContextOptions{
		Session: r.p.Session, Dir: r.p.Cwd, Program: r.Program(), Limit: min(s.PromptSize, maxAnswer),
		Delivered: r.delivered(),
	})
	if err != nil || given.Text == "" {
		return err
	}
	if err := r.addContext(given.Text); err != nil {
		return err
	}
	r.recordDelivered(given.Keys)
	r.recordHandover(p, given)
	return nil
}
