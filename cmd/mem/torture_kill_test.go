package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sort"
	"testing"
	"time"
)

// A life is what the oracle knows about one session: every state that was offered to mem, and the last
// one that mem has acknowledged.
type life struct {
	*teller
	file     string
	states   [][]byte
	acked    int             // index into states, -1 for none
	versions map[string]bool // acknowledged
}

// An oracle runs commands, kills some of them, and knows what must be there afterwards.
type oracle struct {
	*rig
	rng      *rand.Rand
	lives    []*life
	composed map[string]bool // name -> acknowledged
	kills    map[string]int  // command -> how many were killed
	acks     map[string]int
}

func tortureKill(t *testing.T, r *rig) {
	o := &oracle{rig: r, rng: rand.New(rand.NewPCG(1, 2)), composed: map[string]bool{}, kills: map[string]int{}, acks: map[string]int{}}
	for i := range 6 {
		w := newTeller(uint64(i), fmt.Sprintf("/home/user/app%d", i%2))
		file := r.write(filepath.Join("projects", w.id+".jsonl"), nil)
		o.lives = append(o.lives, &life{teller: w, file: file, acked: -1, versions: map[string]bool{}})
	}
	cycles := amount(t, 12, 300, 2000)
	for i := 0; o.killed() < cycles; i++ {
		touched := o.cycle()
		o.check(i, touched)
	}
	o.everything()
	t.Logf("killed %v, acknowledged %v", o.kills, o.acks)
}

// killed returns how many commands were killed so far.
func (o *oracle) killed() (n int) {
	for _, k := range o.kills {
		n += k
	}
	return n
}

// cycle runs one random command, which is killed after 1 to 40 ms, those that take longer later. Every
// third one may end.
func (o *oracle) cycle() *life {
	l := o.lives[o.rng.IntN(len(o.lives))]
	delay := time.Duration(1000+o.rng.IntN(39_000)) * time.Microsecond
	if o.rng.IntN(3) == 0 {
		delay = 0
	}
	k := o.rng.IntN(20)
	if l.acked < 0 {
		k = 0
	}
	switch {
	case k < 10:
		o.add(l, delay)
	case k < 14:
		o.compress(l, delay*time.Duration(1+o.rng.IntN(4)))
	case k < 16:
		o.compose(l, delay*time.Duration(1+o.rng.IntN(4)))
	case k < 17:
		o.note(o.kill(delay, "gc"))
	default:
		o.checkout(l, delay)
	}
	return l
}

// note counts how a command ended and reports whether it acknowledged; one that was not killed must.
func (o *oracle) note(res result) bool {
	o.t.Helper()
	switch res.code {
	case 0:
		o.acks[res.args[0]]++
	case -1:
		o.kills[res.args[0]]++
	default:
		o.t.Fatal(res)
	}
	return res.code == 0
}

func (o *oracle) add(l *life, delay time.Duration) {
	content := l.more(1 + o.rng.IntN(15))
	if n := len(l.states); n > 0 {
		content = append(bytes.Clone(l.states[n-1]), content...)
	}
	if err := os.WriteFile(l.file, content, 0o600); err != nil {
		o.t.Fatal(err)
	}
	l.states = append(l.states, content)
	if o.note(o.kill(delay, "add", l.file)) {
		l.acked = len(l.states) - 1
	}
}

func (o *oracle) compress(l *life, delay time.Duration) {
	ratio := fmt.Sprint(2 + o.rng.IntN(40))
	res := o.kill(delay, "compress", l.id, "--ratio", ratio, "--json")
	if !o.note(res) {
		return
	}
	var made struct{ Session, Version string }
	if err := json.Unmarshal([]byte(res.stdout), &made); err != nil || made.Version == "" {
		o.t.Fatalf("%v: %s", err, res)
	}
	l.versions[made.Version] = true
}

func (o *oracle) compose(l *life, delay time.Duration) {
	name := "context-" + l.id[:8] // a composition is of the project of its first part
	parts := []string{"compose", name, l.id}
	if other := o.lives[o.rng.IntN(len(o.lives))]; other.acked >= 0 && other != l {
		parts = append(parts, other.id)
	}
	if o.note(o.kill(delay, append(parts, "--budget", "4k")...)) {
		o.composed[name] = true
	}
}

// checkout writes an original over an older file: afterwards there is the old one or the new one.
func (o *oracle) checkout(l *life, delay time.Duration) {
	to := filepath.Join(o.dir, "out.jsonl")
	old := []byte("what was there before\n")
	if o.rng.IntN(2) == 0 {
		old = nil
	}
	os.Remove(to) // it may not be there
	if old != nil {
		if err := os.WriteFile(to, old, 0o600); err != nil {
			o.t.Fatal(err)
		}
	}
	acked := o.note(o.kill(delay, "checkout", l.id+":original", "-o", to))
	got, err := os.ReadFile(to)
	if err != nil && (!os.IsNotExist(err) || old != nil || acked) {
		o.t.Fatalf("after checkout: %v", err)
	}
	if bytes.Equal(got, old) && !acked {
		return
	}
	if !l.offered(got) {
		o.t.Fatalf("checkout (acknowledged: %v) left %d bytes that are no state of %s", acked, len(got), l.id)
	}
}

// offered reports whether content is a state that mem was given at or after the last acknowledged one.
func (l *life) offered(content []byte) bool {
	for _, s := range l.states[max(0, l.acked):] {
		if bytes.Equal(s, content) {
			return true
		}
	}
	return false
}

// check looks at the store after a cycle.
func (o *oracle) check(i int, touched *life) {
	o.t.Helper()
	when := fmt.Sprintf("after cycle %d", i)
	o.fsck(when)
	there := o.sessions()
	for _, l := range o.lives {
		if l.acked >= 0 && !there[l.id] {
			o.t.Fatalf("%s: %s was acknowledged and is not listed in %v", when, l.id, there)
		}
		if there[l.id] && len(l.states) == 0 {
			o.t.Fatalf("%s: %s is listed and was never added", when, l.id)
		}
	}
	if i%3 == 0 && there[touched.id] {
		o.whole(touched, when)
	}
	if i%25 == 0 {
		o.gitFsck()
	}
}

// whole checks that a session restores to a state that it may have.
func (o *oracle) whole(l *life, when string) {
	o.t.Helper()
	got, err := o.original(l.id)
	if err != nil {
		o.t.Fatalf("%s: %v", when, err)
	}
	if !l.offered(got) {
		o.t.Fatalf("%s: %s restores to %d bytes, which is no state since the acknowledged one", when, l.id, len(got))
	}
}

// everything checks all that was ever acknowledged, and that the next commands work.
func (o *oracle) everything() {
	o.t.Helper()
	for _, l := range o.lives {
		if l.acked >= 0 {
			o.whole(l, "at the end")
		}
		for v := range l.versions {
			o.ok("show", l.id+":"+v, "--format", "md")
		}
		if len(l.states) > 0 {
			o.ok("add", l.file)
			o.same(l.id, l.states[len(l.states)-1], "at the end")
		}
	}
	names := make([]string, 0, len(o.composed))
	for name := range o.composed {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		o.ok("show", name, "--format", "md")
	}
	if out := o.mem("fsck", "--full"); out.code != 0 {
		o.t.Fatal(out)
	}
	o.gitFsck()
	w := newTeller(99, "/home/user/last")
	o.ok("add", o.write(filepath.Join("projects", w.id+".jsonl"), w.more(5))) // a writer sweeps
	o.noLeftovers()
}

// noLeftovers checks that what killed writers left is swept by the commands after them.
func (o *oracle) noLeftovers() {
	o.t.Helper()
	for _, repo := range []string{"memory.git", "originals.git"} {
		left, err := filepath.Glob(filepath.Join(o.store, repo, "objects", "pack", "tmp_*"))
		if err != nil {
			o.t.Fatal(err)
		}
		if len(left) > 0 {
			o.t.Errorf("left in %s: %v", repo, left)
		}
	}
}
