package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/brief"
	"github.com/memvcs/mem/layers/handover"
	"github.com/memvcs/mem/layers/knowledge"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
)

// maxAnswer is how many UTF-16 units an answer has at most: of a longer one Claude Code shows the model only the start.
const maxAnswer = 9500

// start is SessionStart: catch up, then say what memory knows.
func (r *run) start(ctx context.Context) error {
	left, caught := r.catchUp(ctx)
	m, err := r.open()
	if err != nil {
		return errors.Join(caught, err)
	}
	s, err := r.Settings()
	if err != nil {
		return errors.Join(caught, err)
	}
	p, _, err := m.Projects().Locate(ctx, r.p.Cwd)
	if err != nil {
		return errors.Join(caught, err)
	}
	caught = errors.Join(caught, r.noteCaller())
	if !r.wantsContext() {
		return caught
	}
	given, err := r.context(ctx, m, p, s, left)
	if err == nil && given.Text != "" {
		err = r.say(map[string]any{"hookSpecificOutput": map[string]any{"hookEventName": r.event,
			"additionalContext": given.Text}})
		r.noteGiven(given.Used)
		r.noteHad(given.Keys)
		r.noteHanded(p, given)
	}
	if err == nil && given.Left > 0 && left == 0 {
		err = errors.Join(r.leavePlace(place{r.p.Cwd, r.p.Transcript}), r.Detach("hook", Work))
	}
	return errors.Join(caught, err)
}

// digestTime is how long SessionStart reads sessions of which it has no digest.
const digestTime = 800 * time.Millisecond

// context returns what the session is given at its start, or after a compaction.
func (r *run) context(ctx context.Context, m *layers.Memory, p state.Project, s Settings,
	left int) (handover.Given, error) {
	o := handover.ContextOptions{
		Session: r.p.Session, Dir: r.p.Cwd, Program: r.Program(), Limit: min(s.ContextSize, maxAnswer),
		Pending: s.speakFrom(), Behind: left, Decay: s.Decay,
	}
	if r.p.Source == sourceCompact {
		return m.Handover().Compaction(ctx, p, o)
	}
	end := r.Uptime() + digestTime
	o.Late = func() bool { return r.Uptime() > end }
	return m.Handover().Context(ctx, p, o)
}

// say writes the answer, in one piece.
func (r *run) say(answer map[string]any) error {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(answer); err != nil {
		return err
	}
	_, err := r.Stdout.Write([]byte(b.String()))
	return err
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
	if err := r.capture(ctx); err != nil {
		return err
	}
	return r.ask(ctx)
}

// ask says what is not distilled yet, once in an exchange and only if it is much. It says so as a fact: what to
// do about it is for Claude and the user to decide, and it costs tokens.
func (r *run) ask(ctx context.Context) error {
	s, err := r.Settings()
	if err != nil || !s.Ask {
		return err
	}
	t := r.turn()
	size, little := r.little(s, t)
	if r.busy || t.Asked || little || !r.there {
		return nil
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
	return r.say(map[string]any{"hookSpecificOutput": map[string]any{"hookEventName": r.event,
		"additionalContext": "mem: " + r.undistilled(left)}})
}

// pending returns what the upper layers lack of the session.
func (r *run) pending(ctx context.Context) (knowledge.Pending, error) {
	m, err := r.open()
	if err != nil {
		return knowledge.Pending{}, err
	}
	p, _, err := m.Projects().Locate(ctx, r.p.Cwd)
	if err != nil {
		return knowledge.Pending{}, err
	}
	return m.Knowledge().Pending(ctx, p.ID, r.p.Session)
}

// undistilled says what is left to say of the session, and the commands for it.
func (r *run) undistilled(left knowledge.Pending) string {
	id := records.ShortID(r.p.Session)
	return fmt.Sprintf(
		"messages %d to %d of this session, about %d tokens of what was said and done, have no facts in memory yet. `%s facts draft %s` prints them with the form that `%s facts save` takes.",
		left.From, left.To, left.Tokens, r.Program(), id, r.Program())
}

// subagent is SubagentStop: capture what the subagent did. Its directory links it to the session.
func (r *run) subagent(ctx context.Context) error { return r.capture(ctx) }

// compact is PreCompact: capture, and tell the compaction what is safe and what must survive. It changes nothing, so
// when the client runs it twice it says the same.
func (r *run) compact(ctx context.Context) error {
	if err := r.capture(ctx); err != nil {
		return err
	}
	if r.memory == nil && !r.there {
		return nil
	}
	m, err := r.open()
	if err != nil {
		return err
	}
	p, _, err := m.Projects().Locate(ctx, r.p.Cwd)
	if err != nil {
		return err
	}
	h, err := m.Knowledge().Contents(ctx, p, r.p.Session)
	if err != nil || h.Messages == 0 {
		return err
	}
	settings, err := r.Settings()
	if err != nil {
		return err
	}
	text := compaction(h, r.Program(), records.ShortID(r.p.Session))
	doing, err := m.Handover().Compaction(ctx, p, handover.ContextOptions{Session: r.p.Session, Dir: r.p.Cwd,
		Program: r.Program(), Limit: min(settings.ContextSize, maxAnswer-brief.Units(text)), Unpinned: true})
	if err != nil {
		r.note(string(r.event), r.p.Session, err) // what is held is told all the same
	}
	_, err = r.Stdout.Write([]byte(text + doing.Text))
	return err
}

// compaction is what the compaction is told: what memory holds, and the kept markers, the heaviest first.
func compaction(h knowledge.Contents, program, id string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "mem holds this session word for word up to its message %d", h.Messages)
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

// end is SessionEnd: one durable note, and a worker of its own for the rest, because the client waits for a
// second and a half.
func (r *run) end(ctx context.Context) error {
	durable, err := r.leaveNote()
	if err != nil || durable == nil {
		return err
	}
	if err := durable(); err != nil {
		return err
	}
	if s, err := r.Settings(); err == nil && s.Distill && (s.Register || r.held(ctx)) {
		if err := r.askToDistill(); err != nil {
			return errors.Join(err, r.Detach("hook", Work))
		}
	}
	return r.Detach("hook", Work)
}
