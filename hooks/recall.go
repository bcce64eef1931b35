package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/memvcs/mem/layers/handover"
	"github.com/memvcs/mem/objects"
)

// prompt is UserPromptSubmit: it marks where an exchange begins, and hands over what fits the prompt.
func (r *run) prompt(ctx context.Context) error {
	if err := r.changeTurn(func(t *turn) { t.Prompt, t.Asked = r.p.Prompt, false }); err != nil {
		return err
	}
	r.phase.Store(free)
	if r.Getenv("MEM_RECALL") == "off" || strings.TrimSpace(r.p.Text) == "" {
		return nil
	}
	s, err := r.Settings()
	if err != nil || !s.Recall || s.PromptSize == 0 {
		return err
	}
	occasion := objects.Sum([]byte(r.p.Prompt + "\n" + r.p.Text)).String()[:12] + ".prompt"
	if !r.claim(occasion, together) {
		return nil
	}
	m, err := r.open()
	if err != nil {
		return err
	}
	p, known, err := m.Projects().Locate(ctx, r.p.Cwd)
	if err != nil || !known {
		return err
	}
	given, err := m.Handover().Remind(ctx, p, r.p.Text, handover.ContextOptions{
		Session: r.p.Session, Dir: r.p.Cwd, Program: r.Program(), Limit: min(s.PromptSize, maxAnswer), Had: r.had(),
	})
	if err != nil || given.Text == "" {
		return err
	}
	if err := r.say(map[string]any{"hookSpecificOutput": map[string]any{"hookEventName": r.event,
		"additionalContext": given.Text}}); err != nil {
		return err
	}
	r.noteHad(given.Keys)
	r.noteHanded(p, given)
	return nil
}

func (w *World) hadFile(session string) string {
	return filepath.Join(w.Store, "cache", "hooks", session+".had")
}

// had returns what the session was handed over before: nothing is handed over twice.
func (r *run) had() map[string]bool {
	out := map[string]bool{}
	b, err := os.ReadFile(r.hadFile(r.p.Session))
	if err != nil {
		return out // lost with the cache, something is told twice
	}
	for line := range strings.Lines(string(b)) {
		var key string
		if json.Unmarshal([]byte(line), &key) == nil {
			out[key] = true
		}
	}
	return out
}

// noteHad notes what the session was handed over.
func (r *run) noteHad(keys []string) {
	var b []byte
	for _, key := range keys {
		line, err := json.Marshal(key)
		if err != nil {
			continue
		}
		b = append(append(b, line...), '\n')
	}
	file := r.hadFile(r.p.Session)
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_APPEND|noFollow, 0o600)
	if err != nil {
		return // as above
	}
	_, err = f.Write(b)
	_ = errors.Join(err, f.Close()) // as above
}
