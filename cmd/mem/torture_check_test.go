package main_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/memvcs/mem/layers/forget"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
)

// A view is the content of a store.
type view struct {
	sessions     map[string]*state.Session
	versions     []*records.Version
	compositions map[string]*records.Composition
}

// view reads a store in this process, which is faster than running the program.
func (s *Store) view(ctx context.Context, now func() time.Time) (v view, err error) {
	mem, err := s.memory(now)
	if err != nil {
		return v, brokenf("open %s: %v", s.Dir, err)
	}
	defer func() { err = errors.Join(err, mem.Close()) }()
	projects, err := trust.Projects(ctx, mem.DB)
	if err != nil {
		return v, brokenf("read %s: %v", s.Dir, err)
	}
	v = view{sessions: map[string]*state.Session{}, compositions: map[string]*records.Composition{}}
	for _, project := range projects {
		st, err := trust.Outline(ctx, mem.DB, project.ID)
		if err != nil {
			return v, brokenf("read %s: %v", s.Dir, err)
		}
		for _, l := range st.Sessions {
			v.sessions[l.ID] = l
		}
		v.versions = append(v.versions, st.Versions...)
		for _, c := range st.Compositions {
			v.compositions[c.Name] = c
		}
	}
	return v, nil
}

// checkContent compares the content of a machine with the acknowledged and requested data.
func (p *pair) checkContent(ctx context.Context, m *machine, when string) error {
	v, err := m.view(ctx, p.Now)
	if err != nil {
		return fmt.Errorf("%s: %w", when, err)
	}
	p.checks++
	other := p.machines[1-m.n]
	known := map[string]*session{}
	for _, l := range m.sessions {
		known[l.ID] = l
		if err := l.checkAcknowledged(v, when); err != nil {
			return err
		}
	}
	for _, l := range other.sessions {
		known[l.ID] = l
		if s, at := v.sessions[l.ID], m.pulledState(l); s != nil || at >= 0 {
			if s == nil {
				return brokenf("%s: %s was pushed and pulled and is missing", when, l)
			}
			if err := l.checkState(s.Now().Original, at, when); err != nil {
				return err
			}
		}
	}
	for _, l := range slices.Concat(m.forgetting, other.forgetting, other.forgotten) {
		known[l.ID] = l // may or may not exist
	}
	for _, l := range m.forgotten {
		if v.sessions[l.ID] != nil {
			return brokenf("%s: %s was forgotten and still exists", when, l)
		}
	}
	for id := range v.sessions {
		if known[id] == nil {
			return brokenf("%s: nobody asked for session %s", when, id)
		}
	}
	for _, made := range v.versions {
		if l := known[made.Session]; l == nil || !l.ratios[made.Settings.Ratio] && made.Settings.Tokens == 0 {
			return brokenf("%s: nobody asked for the version %s of %s", when, made.Label, made.Session)
		}
	}
	return m.checkCompositions(v, other, when)
}

// pulledState returns the state of a session that must have arrived from the other machine, -1 for none.
func (m *machine) pulledState(l *session) int {
	if at, ok := m.pulled[l]; ok {
		return at
	}
	return -1
}

// checkAcknowledged checks that the acknowledged data of a session exists and is listed as requested.
func (l *session) checkAcknowledged(v view, when string) error {
	s := v.sessions[l.ID]
	if s == nil {
		if l.acked >= 0 {
			return brokenf("%s: %s was acknowledged and is missing", when, l)
		}
		return nil
	}
	if s.Deleted && !l.may.hidden || !s.Deleted && !l.may.listed {
		return brokenf("%s: %s is removed from the lists: %v", when, l, s.Deleted)
	}
	if err := l.checkVersions(v, when); err != nil {
		return err
	}
	return l.checkState(s.Now().Original, l.acked, when)
}

// checkVersions checks that the acknowledged versions of a session exist.
func (l *session) checkVersions(v view, when string) error {
	for _, label := range slices.Sorted(maps.Keys(l.versions)) {
		if !slices.ContainsFunc(v.versions, func(made *records.Version) bool {
			return made.Session == l.ID && made.Label == label
		}) {
			return brokenf("%s: the version %s of %s was acknowledged and is missing", when, label, l)
		}
	}
	return nil
}

// checkCompositions checks that acknowledged compositions exist.
func (v view) checkCompositions(composed map[string]bool, when string) error {
	for _, name := range slices.Sorted(maps.Keys(composed)) {
		if v.compositions[name] == nil {
			return brokenf("%s: the composition %s was acknowledged and is missing", when, name)
		}
	}
	return nil
}

func (m *machine) checkCompositions(v view, other *machine, when string) error {
	if err := v.checkCompositions(m.composed, when); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(v.compositions)) {
		if !m.requested[name] && !other.requested[name] {
			return brokenf("%s: nobody asked for the composition %s", when, name)
		}
	}
	return nil
}

// checkStore runs mem fsck on the store and restores a session.
func (p *pair) checkStore(ctx context.Context, m *machine, when string) error {
	if err := m.Do(ctx, "fsck"); err != nil {
		return fmt.Errorf("%s: %w", when, err)
	}
	p.fscks++
	n, err := m.Private()
	if err != nil {
		return err
	}
	p.files += n
	if len(m.sessions) == 0 {
		return nil
	}
	l := m.sessions[p.IntN(len(m.sessions))]
	if l.acked < 0 || l.may.hidden {
		return nil
	}
	return p.restore(ctx, m, l, when)
}

func (p *pair) restore(ctx context.Context, m *machine, l *session, when string) error {
	got, err := m.Original(ctx, l.ID)
	if err != nil {
		return fmt.Errorf("%s: %w", when, err)
	}
	p.restores++
	return l.checkRestored(got, when)
}

// finish drains the spool, pushes and pulls on both machines without a kill, and checks everything.
func (p *pair) finish(ctx context.Context) error {
	when := "at the end of pair " + p.dir
	for _, m := range p.machines {
		if err := p.pushAll(ctx, m, when); err != nil {
			return err
		}
	}
	roots := [2]string{}
	for i, m := range p.machines {
		if err := m.Do(ctx, "pull"); err != nil {
			return err
		}
		for _, l := range p.machines[1-i].sessions {
			m.pulled[l] = l.pushed
		}
		if err := p.checkContent(ctx, m, when); err != nil {
			return err
		}
		if err := p.checkForgotten(ctx, m, when); err != nil {
			return err
		}
		if err := p.checkFully(ctx, m); err != nil {
			return err
		}
		out, err := m.Output(ctx, "fsck", "--root")
		if err != nil {
			return err
		}
		for line := range strings.Lines(out) {
			hash, rest, _ := strings.Cut(line, " ")
			id, _, _ := strings.Cut(rest, " ")
			roots[i] += hash + " " + id + "\n"
		}
	}
	p.comparisons++
	if roots[0] != roots[1] || roots[0] == "" {
		return brokenf("%s: two machines have different hashes after they pushed and pulled everything:\n%s%s", when,
			roots[0], roots[1])
	}
	return nil
}

// pushAll drains the spool of a machine, adds the last state of every session and pushes everything.
func (p *pair) pushAll(ctx context.Context, m *machine, when string) error {
	noted := m.noted()
	if err := m.Drain(ctx, p.Uptime); err != nil {
		return err
	}
	for l, at := range noted {
		l.acked = max(l.acked, at)
	}
	if err := p.finishForget(ctx, m); err != nil {
		return err
	}
	for _, l := range m.sessions {
		if l.last() < 0 {
			continue
		}
		if err := m.Do(ctx, "add", l.file); err != nil {
			return err
		}
		l.acked, l.may = l.last(), visibility{listed: true}
		if err := p.restore(ctx, m, l, when); err != nil {
			return err
		}
	}
	if err := m.Do(ctx, "push", "--all", "--yes"); err != nil {
		return err
	}
	for _, l := range m.sessions {
		l.pushed = l.acked
	}
	return nil
}

// checkFully checks every byte of a store, and that killed commands left nothing behind.
func (p *pair) checkFully(ctx context.Context, m *machine) error {
	if err := m.Do(ctx, "fsck", "--full"); err != nil {
		return err
	}
	p.fscks++
	if err := m.GitFsck(ctx); err != nil {
		return err
	}
	if err := p.checkLeftovers(ctx, m); err != nil {
		return err
	}
	n, err := m.Private()
	p.files += n
	return err
}

// checkLeftovers checks that gc removes the temporary files of killed commands. No later command may have done it.
func (p *pair) checkLeftovers(ctx context.Context, m *machine) error {
	for end := p.Uptime() + 2*time.Minute; ; {
		if err := m.Do(ctx, "gc"); err != nil {
			return err
		}
		left, err := m.leftovers()
		if err != nil || len(left) == 0 {
			return err
		}
		if p.Uptime() > end { // no hook in the background still writes
			return brokenf("left by commands that were killed: %v", left)
		}
	}
}

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
