package proof

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
)

// A view is the content of a store.
type view struct {
	sessions     map[string]*state.Session
	versions     []*records.Version
	compositions map[string]*records.Composition
}

// view reads a store in this process, which is faster than running the program.
func (m *machine) view(ctx context.Context, p *pair) (v view, err error) {
	mem, err := m.memory(p.Now)
	if err != nil {
		return v, broken("open %s: %v", m.Dir, err)
	}
	defer func() { err = errors.Join(err, mem.Close()) }()
	projects, err := mem.Trusted().Projects(ctx)
	if err != nil {
		return v, broken("read %s: %v", m.Dir, err)
	}
	v = view{sessions: map[string]*state.Session{}, compositions: map[string]*records.Composition{}}
	for _, project := range projects {
		st, err := mem.Trusted().Outline(ctx, project.ID)
		if err != nil {
			return v, broken("read %s: %v", m.Dir, err)
		}
		for _, s := range st.Sessions {
			v.sessions[s.ID] = s
		}
		v.versions = append(v.versions, st.Versions...)
		for _, c := range st.Compositions {
			v.compositions[c.Name] = c
		}
	}
	return v, nil
}

// look compares the content of a machine with the acknowledged and requested data.
func (p *pair) look(ctx context.Context, m *machine, when string) error {
	v, err := m.view(ctx, p)
	if err != nil {
		return fmt.Errorf("%s: %w", when, err)
	}
	p.looks++
	other := p.machines[1-m.n]
	known := map[string]*life{}
	for _, l := range m.lives {
		known[l.ID] = l
		if err := l.kept(v, when); err != nil {
			return err
		}
	}
	for _, l := range other.lives {
		known[l.ID] = l
		if s, at := v.sessions[l.ID], m.reached(l); s != nil || at >= 0 {
			if s == nil {
				return broken("%s: %s was pushed and pulled and is not there", when, l)
			}
			if err := l.state(s.Now().Original, at, when); err != nil {
				return err
			}
		}
	}
	for _, l := range slices.Concat(m.dying, other.dying, other.dead) {
		known[l.ID] = l // nobody knows yet
	}
	for _, l := range m.dead {
		if v.sessions[l.ID] != nil {
			return broken("%s: %s was forgotten and is there", when, l)
		}
	}
	for id := range v.sessions {
		if known[id] == nil {
			return broken("%s: nobody asked for session %s", when, id)
		}
	}
	for _, made := range v.versions {
		if l := known[made.Session]; l == nil || !l.asked[made.Settings.Ratio] && made.Settings.Tokens == 0 {
			return broken("%s: nobody asked for the version %s of %s", when, made.Label, made.Session)
		}
	}
	return m.compositionsKept(v, other, when)
}

// reached returns the state of a session that must have arrived from the other machine.
func (m *machine) reached(l *life) int {
	if at, ok := m.seen[l]; ok {
		return at
	}
	return -1
}

// kept checks that the acknowledged data of a session exists and is listed as requested.
func (l *life) kept(v view, when string) error {
	s := v.sessions[l.ID]
	if s == nil {
		if l.acked >= 0 {
			return broken("%s: %s was acknowledged and is not there", when, l)
		}
		return nil
	}
	if listed, either := l.must(); !either && listed == s.Deleted {
		return broken("%s: %s is taken out of the lists: %v", when, l, s.Deleted)
	}
	for _, label := range slices.Sorted(maps.Keys(l.versions)) {
		if !slices.ContainsFunc(v.versions, func(made *records.Version) bool {
			return made.Session == l.ID && made.Label == label
		}) {
			return broken("%s: the version %s of %s was acknowledged and is not there", when, label, l)
		}
	}
	return l.state(s.Now().Original, l.acked, when)
}

func (m *machine) compositionsKept(v view, other *machine, when string) error {
	for _, name := range slices.Sorted(maps.Keys(m.composed)) {
		if v.compositions[name] == nil {
			return broken("%s: the composition %s was acknowledged and is not there", when, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(v.compositions)) {
		asked, _, _ := strings.Cut(name, "~") // of a device that is not trusted the name has the device behind it
		if !m.wanted[asked] && !other.wanted[asked] {
			return broken("%s: nobody asked for the composition %s", when, name)
		}
	}
	return nil
}

// sound runs mem fsck on the store and restores a session.
func (p *pair) sound(ctx context.Context, m *machine, when string) error {
	if err := m.Do(ctx, "fsck"); err != nil {
		return fmt.Errorf("%s: %w", when, err)
	}
	p.fscks++
	n, err := m.Private()
	if err != nil {
		return err
	}
	p.files += n
	if len(m.lives) == 0 {
		return nil
	}
	l := m.lives[p.IntN(len(m.lives))]
	if l.acked < 0 || l.gone[1] {
		return nil
	}
	return p.restore(ctx, m, l, when)
}

func (p *pair) restore(ctx context.Context, m *machine, l *life, when string) error {
	got, err := m.Original(ctx, l.ID)
	if err != nil {
		return fmt.Errorf("%s: %w", when, err)
	}
	p.restores++
	return l.restored(got, when)
}

// end folds, pushes and pulls on both machines without a kill, and checks everything.
func (p *pair) end(ctx context.Context) error {
	when := "at the end of pair " + p.dir
	for _, m := range p.machines {
		if err := p.settle(ctx, m, when); err != nil {
			return err
		}
	}
	roots := [2]string{}
	for i, m := range p.machines {
		if err := m.Do(ctx, "pull"); err != nil {
			return err
		}
		for _, l := range p.machines[1-i].lives {
			m.seen[l] = l.pushed
		}
		if err := p.look(ctx, m, when); err != nil {
			return err
		}
		if err := p.checkForgotten(ctx, m, when); err != nil {
			return err
		}
		if err := p.last(ctx, m); err != nil {
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
	p.meetings++
	if roots[0] != roots[1] || roots[0] == "" {
		return broken("%s: two machines that pushed and pulled everything have different hashes:\n%s%s", when,
			roots[0], roots[1])
	}
	return nil
}

// settle folds the notes of hooks on a machine, adds the last state of every session and pushes everything.
func (p *pair) settle(ctx context.Context, m *machine, when string) error {
	noted := m.noted()
	if err := m.Fold(ctx, p.Uptime); err != nil {
		return err
	}
	for l, at := range noted {
		l.acked = max(l.acked, at)
	}
	if err := p.finishForget(ctx, m); err != nil {
		return err
	}
	for _, l := range m.lives {
		if l.last() < 0 {
			continue
		}
		if err := m.Do(ctx, "add", l.file); err != nil {
			return err
		}
		l.acked, l.gone = l.last(), [2]bool{true, false}
		if err := p.restore(ctx, m, l, when); err != nil {
			return err
		}
	}
	if err := m.Do(ctx, "push", "--all", "--yes"); err != nil {
		return err
	}
	for _, l := range m.lives {
		l.pushed = l.acked
	}
	return nil
}

// last checks every byte of a store, and that killed commands left nothing behind.
func (p *pair) last(ctx context.Context, m *machine) error {
	if err := m.Do(ctx, "fsck", "--full"); err != nil {
		return err
	}
	p.fscks++
	if err := m.GitFsck(ctx); err != nil {
		return err
	}
	if err := p.swept(ctx, m); err != nil {
		return err
	}
	n, err := m.Private()
	p.files += n
	return err
}

// swept checks that killed commands left nothing behind after a cleanup, because no later command may have written.
func (p *pair) swept(ctx context.Context, m *machine) error {
	for end := p.Uptime() + 2*time.Minute; ; {
		if err := m.Do(ctx, "gc"); err != nil {
			return err
		}
		left, err := m.Leftovers()
		if err != nil || len(left) == 0 {
			return err
		}
		if p.Uptime() > end { // a hook in the background is not at it any more
			return broken("left by commands that were killed: %v", left)
		}
	}
}
