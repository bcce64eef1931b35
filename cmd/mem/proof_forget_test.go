package main_test

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/memvcs/mem/layers/forget"
)

// forget deletes a session permanently. The next command finishes a killed forget.
func (p *pair) forget(ctx context.Context, m *machine, l *session) error {
	if len(m.forgetting) > 0 {
		l = m.forgetting[0]
	} else {
		if l.acked < 0 {
			return nil
		}
		m.sessions = slices.DeleteFunc(m.sessions, func(o *session) bool { return o == l })
		m.forgetting = append(m.forgetting, l)
		maps.DeleteFunc(m.composed, func(name string, _ bool) bool { return strings.HasPrefix(name, "context-"+l.ID[:8]) })
		delete(p.machines[1-m.n].pulled, l)
	}
	l.tries++
	res, acked, err := p.run(ctx, m, "forget", "", "forget", l.ID, "--yes")
	switch {
	case err != nil:
		return err
	case res.Code == 128 || res.Code == 1:
		if l.tries == 1 || !strings.Contains(res.Stderr, l.ID[:8]) {
			return brokenf("%s", res)
		}
	case !acked:
		return nil
	}
	m.forgetting, m.forgotten = m.forgetting[1:], append(m.forgotten, l)
	p.forgotten++
	return p.checkErased(ctx, m, l, "after forgetting it")
}

// checkErased checks that no file of a store contains bytes of a forgotten session.
func (p *pair) checkErased(ctx context.Context, m *machine, l *session, when string) (err error) {
	for range 20 { // a hook in the background may remove a file during the search
		var left []string
		if left, err = m.filesWith(ctx, p, l.Mark); err == nil && len(left) > 0 {
			err = brokenf("%s: %s still has bytes in %v", when, l, left)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		time.Sleep(50 * time.Millisecond)
	}
	return err
}

// filesWith returns the files of the store that contain a text.
func (m *machine) filesWith(ctx context.Context, p *pair, text string) (left []string, err error) {
	mem, err := m.memory(p.Now)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, mem.Close()) }()
	return forget.Holds(ctx, mem.DB, []byte(text))
}

// finishForget completes the pending deletions.
func (p *pair) finishForget(ctx context.Context, m *machine) error {
	for tries := 0; len(m.forgetting) > 0; tries++ {
		p.killed = true
		if err := p.forget(ctx, m, nil); err != nil {
			return err
		}
		if tries > 1000 {
			return brokenf("%s cannot be forgotten", m.forgetting[0])
		}
	}
	return nil
}

// checkForgotten checks that no forgotten data came back, on either machine.
func (p *pair) checkForgotten(ctx context.Context, m *machine, when string) error {
	v, err := m.view(ctx, p.Now)
	if err != nil {
		return err
	}
	for _, l := range p.machines[1-m.n].forgotten {
		if v.sessions[l.ID] != nil {
			return brokenf("%s: %s was forgotten on the other machine and still exists", when, l)
		}
	}
	for _, l := range m.forgotten {
		if err := p.checkErased(ctx, m, l, when); err != nil {
			return err
		}
	}
	return nil
}

// prune hides versions. An undo restores them.
func (p *pair) prune(ctx context.Context, m *machine, l *session) error {
	_, _, err := p.run(ctx, m, "prune", "", "prune", l.ID, "--keep-last", "1", "--yes")
	return err
}

// undo undoes the last operation in a project, or redoes it.
func (p *pair) undo(ctx context.Context, m *machine, l *session) error {
	verb := "undo"
	if p.chance(3) {
		verb = "redo"
	}
	for _, o := range m.sessions {
		if o.Cwd == l.Cwd && o.removed {
			o.may = visibility{listed: true, hidden: true} // this command may undo its removal
		}
	}
	_, _, err := p.run(ctx, m, verb, "", verb, "--project", l.Cwd[strings.LastIndexByte(l.Cwd, '/')+1:])
	return err
}
