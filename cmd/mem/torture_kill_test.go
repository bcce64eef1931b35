package main_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/memvcs/mem/objects"
)

// Kills kills n commands of a mixed load at random moments. The commands run on pairs of machines that share a remote;
// they add, compress, compose, remove, forget, prune and undo sessions, run hooks, collect garbage, push and pull.
// Several pairs run concurrently, each for about a hundred kills.
func (r *Rig) Kills(ctx context.Context, n int) ([]Promise, error) {
	const perPair = 100
	pairs := (n + perPair - 1) / perPair
	var mu sync.Mutex
	total := newTally()
	err := parallel(ctx, pairs, parallelism, func(ctx context.Context, i int) error {
		p, err := r.newPair(ctx, i)
		if err != nil {
			return err
		}
		err = p.killCommands(ctx, min(perPair, n-i*perPair))
		mu.Lock()
		total.add(p.tally)
		mu.Unlock()
		if err != nil {
			return err // its directory shows what happened
		}
		return RemoveAll(p.dir)
	})
	r.note("killed %s; acknowledged %s", counts(total.kills), counts(total.acks))
	t := total
	all := []Promise{
		{What: "acknowledged data survives kill -9", Times: sum(t.kills),
			Of: fmt.Sprintf("kills of %d commands, %d commands acknowledged", len(t.kills), sum(t.acks))},
		{What: "the store has only requested data", Times: t.checks, Of: "checks"},
		{What: "the store is valid without any repair", Times: t.fscks, Of: "runs of mem fsck"},
		{What: "the next command works", Times: t.next, Of: "commands after a kill"},
		{What: "originals are restored byte for byte", Times: t.restores, Of: "restores"},
		{What: "no byte of forgotten data remains", Times: t.forgotten, Of: "sessions"},
		{What: "two machines that share a remote end with the same hash", Times: t.comparisons, Of: "comparisons"},
		{What: "only the user can read the store", Times: t.files, Of: "files and directories"},
	}
	// a few kills do not reach every check
	return slices.DeleteFunc(all, func(p Promise) bool { return p.Times == 0 }), err
}

// parallelism is the number of concurrent pairs: more than processors, because commands wait for the disk.
const parallelism = 4

// A tally counts commands and kills.
type tally struct {
	kills, acks                                       map[string]int
	checks, fscks, next, restores, comparisons, files int
	forgotten                                         int
}

func newTally() *tally { return &tally{kills: map[string]int{}, acks: map[string]int{}} }

func (t *tally) add(o *tally) {
	for k, n := range o.kills {
		t.kills[k] += n
	}
	for k, n := range o.acks {
		t.acks[k] += n
	}
	t.checks, t.fscks, t.next = t.checks+o.checks, t.fscks+o.fscks, t.next+o.next
	t.restores, t.comparisons, t.files = t.restores+o.restores, t.comparisons+o.comparisons, t.files+o.files
	t.forgotten += o.forgotten
}

func sum(m map[string]int) (n int) {
	for _, k := range m {
		n += k
	}
	return n
}

func counts(m map[string]int) string {
	out := ""
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out += fmt.Sprintf(" %s %d", k, m[k])
	}
	return fmt.Sprintf("%d:%s", sum(m), out)
}

// A pair is two machines and the remote directory between them.
type pair struct {
	*Rig
	*random
	*tally
	dir      string
	machines [2]*machine
	killed   bool // the last command was killed
}

// A machine is a store with its expected content.
type machine struct {
	*Store
	n          int
	sessions   []*session
	forgetting []*session       // forget was started and may have been killed
	forgotten  []*session       // forget succeeded
	pulled     map[*session]int // states of the other's sessions that a pull has brought
	requested  map[string]bool  // compositions by name
	composed   map[string]bool  // acknowledged compositions by name
	durations  map[string]time.Duration
}

func (r *Rig) newPair(ctx context.Context, i int) (*pair, error) {
	dir, err := r.dir(fmt.Sprintf("kill-%d", i))
	if err != nil {
		return nil, err
	}
	seed := random(r.Seed + uint64(i))
	p := &pair{Rig: r, random: &seed, tally: newTally(), dir: dir}
	hub := filepath.Join(dir, "hub.git")
	if err := bareRepository(hub); err != nil {
		return nil, err
	}
	for k := range p.machines {
		home := filepath.Join(dir, fmt.Sprintf("machine-%d", k))
		if err := os.MkdirAll(home, 0o700); err != nil {
			return nil, err
		}
		s, err := NewStore(ctx, r.Bin, r.Path, home)
		if err != nil {
			return nil, err
		}
		if err := s.Do(ctx, "remote", "add", "origin", hub); err != nil {
			return nil, err
		}
		m := &machine{Store: s, n: k, pulled: map[*session]int{}, requested: map[string]bool{}, composed: map[string]bool{},
			durations: map[string]time.Duration{}}
		for range 3 {
			m.sessions = append(m.sessions, p.newSession(m))
		}
		p.machines[k] = m
	}
	return p, p.trust(ctx)
}

// trust lets the machines of a pair trust each other.
func (p *pair) trust(ctx context.Context) error {
	for _, m := range p.machines {
		for _, args := range [][]string{{"rules", "add", "Be exact.", "--yes"}, {"push", "--all", "--yes"}} {
			if err := m.Do(ctx, args...); err != nil {
				return err
			}
		}
	}
	for _, m := range p.machines {
		if err := m.Do(ctx, "pull"); err != nil {
			return err
		}
		text, err := m.Output(ctx, "device", "list", "--json")
		if err != nil {
			return err
		}
		var list struct {
			Devices []struct {
				ID  string `json:"id"`
				Own bool   `json:"own"`
			} `json:"devices"`
		}
		if err := json.Unmarshal([]byte(text), &list); err != nil {
			return err
		}
		for _, d := range list.Devices {
			if d.Own {
				continue
			}
			if err := m.Do(ctx, "device", "trust", "--yes", d.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *pair) newSession(m *machine) *session {
	return newSession(m.Store, p.sessionNumber(), fmt.Sprintf("/home/user/app%d", p.IntN(2)))
}

// sessionNumber returns a number for a new session id.
func (p *pair) sessionNumber() uint64 { return p.random.next() >> 17 }

// bareRepository creates an empty bare repository.
func bareRepository(dir string) error {
	for _, d := range []string{"objects/info", "objects/pack", "refs/heads", "refs/tags"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "config"), []byte("[core]\n\trepositoryformatversion = 0\n\tbare = true\n"),
		0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "HEAD"), []byte("ref: refs/heads/main\n"), 0o600)
}

// killCommands runs commands until n were killed. It checks the store after each, and everything at the end.
func (p *pair) killCommands(ctx context.Context, n int) error {
	for i := 0; sum(p.kills) < n; i++ {
		m := p.machines[p.IntN(10)/7]
		before := sum(p.kills)
		name, err := p.command(ctx, m)
		if err != nil {
			return err
		}
		after := sum(p.kills) > before
		if p.killed && !after {
			p.tally.next++
		}
		p.killed = after
		when := fmt.Sprintf("after command %d (%s) of pair %s", i, name, filepath.Base(p.dir))
		if err := p.checkContent(ctx, m, when); err != nil {
			return err
		}
		if i%8 == 7 {
			if err := p.checkStore(ctx, m, when); err != nil {
				return err
			}
		}
	}
	return p.finish(ctx)
}

// command runs a random command on a machine. It kills two of three, if they run long enough.
func (p *pair) command(ctx context.Context, m *machine) (string, error) {
	if len(m.sessions) == 0 {
		m.sessions = append(m.sessions, p.newSession(m))
	}
	l := m.sessions[p.IntN(len(m.sessions))]
	k := p.IntN(100)
	if len(m.forgetting) > 0 && p.chance(3) {
		return "forget", p.forget(ctx, m, l)
	}
	if l.acked < 0 || l.may.hidden {
		k = 0 // a session that may not exist can only be added
	}
	switch {
	case k < 23:
		return "add", p.add(ctx, m, l)
	case k < 41:
		return "hook", p.hook(ctx, m, l)
	case k < 50:
		return "compress", p.compress(ctx, m, l)
	case k < 56:
		return "compose", p.compose(ctx, m, l)
	case k < 60:
		return "rm", p.remove(ctx, m, l)
	case k < 65:
		return "fold", p.drain(ctx, m)
	case k < 69:
		_, _, err := p.run(ctx, m, "gc", "", "gc")
		return "gc", err
	case k < 77:
		return "push", p.push(ctx, m)
	case k < 85:
		return "pull", p.pull(ctx, m)
	case k < 90:
		return "forget", p.forget(ctx, m, l)
	case k < 93:
		return "prune", p.prune(ctx, m, l)
	case k < 96:
		return "undo", p.undo(ctx, m, l)
	default:
		return "checkout", p.checkout(ctx, m, l)
	}
}

// expectedCodes are the exit codes of commands that had nothing to do or were only partly done.
var expectedCodes = map[string][]int{"forget": {1, 3, 128}, "undo": {1}, "redo": {1}}

// run runs a command, which may be killed within its usual duration, and reports whether it succeeded. A command that
// was not killed must succeed or exit with an expected status.
func (p *pair) run(ctx context.Context, m *machine, name, stdin string, args ...string) (Result, bool, error) {
	takes := cmp.Or(m.durations[name], 20*time.Millisecond)
	after := time.Duration(1 + p.random.next()%uint64(takes+takes/8))
	if p.chance(3) || p.killed && p.chance(2) {
		after = 0
	}
	begin := p.Uptime()
	res := m.Run(ctx, after, stdin, append([]string{m.Bin}, args...))
	if ctx.Err() != nil {
		return res, false, ctx.Err()
	}
	switch res.Code {
	case 0:
		p.acks[name]++
		m.durations[name] = (3*takes + p.Uptime() - begin) / 4
	case -1:
		p.kills[name]++
	case 5, 11: // a budget that cannot be met; a hook in the background that has the lock
	default:
		if !slices.Contains(expectedCodes[name], res.Code) {
			return res, false, brokenf("%s", res)
		}
	}
	return res, res.Code == 0, nil
}

func (p *pair) add(ctx context.Context, m *machine, l *session) error {
	if l.last() > 12 { // small sessions leave time for more of them; the old one is still checked
		l = p.newSession(m)
		m.sessions = append(m.sessions, l)
	}
	if err := m.grow(ctx, l, 1+p.IntN(3)); err != nil {
		return err
	}
	l.may.listed = true // the next command may list it again
	_, acked, err := p.run(ctx, m, "add", "", "add", l.file)
	if acked {
		l.acked, l.may = l.last(), visibility{listed: true}
	}
	return err
}

// hook runs a hook of a grown session and records the acknowledged state.
func (p *pair) hook(ctx context.Context, m *machine, l *session) error {
	if err := m.grow(ctx, l, 1+p.IntN(2)); err != nil {
		return err
	}
	file, err := l.payload(m.Store)
	if err != nil {
		return err
	}
	event := []string{"Stop", "SubagentStop", "PreCompact", "SessionEnd"}[p.IntN(4)]
	res, acked, err := p.run(ctx, m, "hook", file, "hook", event)
	if acked {
		l.noted = l.last()
		if res.Stderr != "" {
			return brokenf("a hook wrote to stderr: %s", res)
		}
	}
	return err
}

func (p *pair) drain(ctx context.Context, m *machine) error {
	noted := m.noted()
	_, acked, err := p.run(ctx, m, "fold", "", "hook", "work")
	if err != nil || !acked {
		return err
	}
	if notes, err := m.notes(); err != nil || len(notes) > 0 {
		return err // a hook in the background has the lock
	}
	for l, at := range noted {
		l.acked = max(l.acked, at)
	}
	return nil
}

func (m *machine) noted() map[*session]int {
	noted := map[*session]int{}
	for _, l := range m.sessions {
		noted[l] = l.noted
	}
	return noted
}

func (p *pair) compress(ctx context.Context, m *machine, l *session) error {
	ratio := 2 + p.IntN(20)
	l.ratios[ratio] = true
	res, acked, err := p.run(ctx, m, "compress", "", "compress", l.ID, "--ratio", fmt.Sprint(ratio), "--json")
	if err != nil || !acked {
		return err
	}
	return l.addVersion(res)
}

// addVersion records the version that mem compress acknowledged.
func (l *session) addVersion(res Result) error {
	var made struct{ Version string }
	if err := json.Unmarshal([]byte(res.Stdout), &made); err != nil || made.Version == "" {
		return brokenf("%v: %s", err, res)
	}
	l.versions[made.Version] = true
	return nil
}

func (p *pair) compose(ctx context.Context, m *machine, l *session) error {
	name := fmt.Sprintf("context-%s-%d", l.ID[:8], p.IntN(3))
	m.requested[name] = true
	_, acked, err := p.run(ctx, m, "compose", "", "compose", name, l.ID, "-p", filepath.Base(l.Cwd),
		"--budget", fmt.Sprint(2000+p.IntN(4000)))
	if acked {
		m.composed[name] = true
	}
	return err
}

// remove hides a session; adding it again restores it.
func (p *pair) remove(ctx context.Context, m *machine, l *session) error {
	if notes, err := m.notes(); err != nil || len(notes) > 0 {
		return err // the next drain would rightly restore the session
	}
	l.may.hidden, l.removed = true, true
	_, acked, err := p.run(ctx, m, "rm", "", "rm", "--force", l.ID)
	if acked {
		l.may = visibility{hidden: true}
	}
	return err
}

// push pushes from a machine. After an acknowledged push, everything acknowledged before is on the remote.
func (p *pair) push(ctx context.Context, m *machine) error {
	had := map[*session]int{}
	for _, l := range m.sessions {
		had[l] = l.acked
	}
	_, acked, err := p.run(ctx, m, "push", "", "push", "--all", "--yes")
	if acked {
		for l, at := range had {
			l.pushed = max(l.pushed, at)
		}
	}
	return err
}

// pull fetches the pushed data of the other machine.
func (p *pair) pull(ctx context.Context, m *machine) error {
	_, acked, err := p.run(ctx, m, "pull", "", "pull")
	if acked {
		for _, l := range p.machines[1-m.n].sessions {
			m.pulled[l] = l.pushed
		}
	}
	return err
}

// checkout overwrites an older file with an original. Afterwards the file is the old or the new one, never a mix.
func (p *pair) checkout(ctx context.Context, m *machine, l *session) error {
	to := filepath.Join(m.Home, "out.jsonl")
	const old = "old content\n"
	if err := os.WriteFile(to, []byte(old), 0o600); err != nil {
		return err
	}
	_, acked, err := p.run(ctx, m, "checkout", "", "checkout", "--force", l.ID+":original", "-o", to)
	if err != nil {
		return err
	}
	got, err := os.ReadFile(to)
	if err != nil {
		return brokenf("after checkout: %v", err)
	}
	if string(got) == old && !acked {
		return nil
	}
	p.restores++
	return l.checkRestored(got, "after checkout")
}

// A session is the history of one session file: all states that were written, and which of them were acknowledged.
type session struct {
	*Generator
	file     string
	content  []byte         // the newest state
	names    []objects.Hash // of all states
	ends     []int          // their lengths in bytes
	acked    int            // the last state that a command acknowledged, -1 for none
	noted    int            // the last state that a hook acknowledged: it is stored after the next drain
	pushed   int            // the last state that the remote acknowledged
	versions map[string]bool
	ratios   map[int]bool // ratios of the requested versions
	may      visibility
	removed  bool // a removal was requested at least once
	tries    int  // attempts to forget it
}

// A visibility is the set of acceptable states in the lists: both while the outcome of a command is unknown.
type visibility struct{ listed, hidden bool }

// newSession starts a session on the machine of the store.
func newSession(s *Store, n uint64, cwd string) *session {
	w := NewGenerator(n, cwd)
	w.Mark = fmt.Sprintf("mark%xof%x", w.random, n)
	return &session{
		Generator: w, file: s.Transcript(w.ID), acked: -1, noted: -1, pushed: -1,
		versions: map[string]bool{}, ratios: map[int]bool{}, may: visibility{listed: true},
	}
}

// Transcript returns where Claude Code would keep the transcript of a session.
func (s *Store) Transcript(id string) string {
	return filepath.Join(s.Home, "claude", "projects", "-home-user-app", id+".jsonl")
}

// grow appends to the transcript, like Claude Code.
func (l *session) grow(records int) error {
	more := l.More(records)
	if err := os.MkdirAll(filepath.Dir(l.file), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(l.file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.Write(more); err != nil {
		f.Close()
		return err
	}
	l.content = append(l.content, more...)
	l.names, l.ends = append(l.names, objects.Sum(l.content)), append(l.ends, len(l.content))
	return f.Close()
}

// grow appends to a session while no background capture runs, which could read an incomplete write.
func (m *machine) grow(ctx context.Context, l *session, records int) error {
	lock := flock.New(filepath.Join(m.Dir, "spool", "fold.lock"), flock.SetPermissions(0o600))
	// no hook has run yet
	if _, err := lock.TryLockContext(ctx, 5*time.Millisecond); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return errors.Join(l.grow(records), lock.Close())
}

// last returns the newest state.
func (l *session) last() int { return len(l.names) - 1 }

// payload writes the input of a hook of the session and returns the file.
func (l *session) payload(s *Store) (string, error) {
	b, err := json.Marshal(map[string]any{"session_id": l.ID, "transcript_path": l.file, "cwd": l.Cwd})
	if err != nil {
		return "", err
	}
	path := filepath.Join(s.Home, l.ID+".payload")
	return path, os.WriteFile(path, b, 0o600)
}

// checkState checks that a hash is the hash of the required state or of a later one.
func (l *session) checkState(name objects.Hash, from int, when string) error {
	if from = max(0, from); from > l.last() || !slices.Contains(l.names[from:], name) {
		at := slices.Index(l.names, name)
		return brokenf("%s: session %s is at %s, state %d; the last acknowledged state is %d of %d", when, l.ID,
			name.Short(), at, l.acked, l.last())
	}
	return nil
}

// checkRestored checks restored bytes.
func (l *session) checkRestored(content []byte, when string) error {
	if !bytes.HasPrefix(l.content, content) {
		return brokenf("%s: %d bytes of session %s were restored, which differ from its file", when, len(content), l.ID)
	}
	return l.checkState(objects.Sum(content), l.acked, when)
}

// checkPrefix checks restored bytes if background programs may have read the file during a write: they are a prefix of
// the file and include everything acknowledged.
func (l *session) checkPrefix(content []byte, when string) error {
	if !bytes.HasPrefix(l.content, content) || l.acked >= 0 && len(content) < l.ends[l.acked] {
		return l.checkRestored(content, when)
	}
	return nil
}

func (l *session) String() string { return fmt.Sprintf("session %s", l.ID) }

// rewrite writes the transcript again, because a power cut may lose unsynced data of the client.
func (l *session) rewrite() error {
	if l.last() < 0 {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(l.file), 0o700); err != nil {
		return err
	}
	return os.WriteFile(l.file, l.content, 0o600)
}
