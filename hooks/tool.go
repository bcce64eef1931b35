package hooks

import "context"

// tool is PostToolUse and PostToolUseFailure: it counts the use and captures after a number of uses.
func (r *run) tool(ctx context.Context) error {
	due, err := r.countUse(r.p.Session)
	if err != nil || !due {
		return err
	}
	if r.hasTranscript, err = checkTranscript(r.projects(), r.p.Transcript); err != nil {
		return err
	}
	if err := r.capture(ctx); err != nil {
		return err
	}
	return r.ask(ctx)
}

// ask tells the model which messages have no facts, once for each prompt and only if there are many. It gives no
// instruction: to distil costs tokens, and the user and the model decide whether to do it.
func (r *run) ask(ctx context.Context) error {
	s, err := r.Settings()
	if err != nil || !s.Ask {
		return err
	}
	t := r.turn()
	size, little := r.grewLittle(s, t)
	if r.busy || t.Asked || little || !r.hasTranscript {
		return nil
	}
	if off, err := r.captureOff(); off || err != nil {
		return err
	}
	left, err := r.pending(ctx)
	if err != nil {
		return err
	}
	much := left.Tokens > s.AskAfterTokens
	err = r.changeTurn(func(t *turn) { t.Size, t.Tokens, t.Asked = size, left.Tokens, much })
	if err != nil || !much {
		return err
	}
	return r.addContext("mem: " + r.undistilled(left))
}
