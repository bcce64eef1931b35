//go:build unix

package main

import (
	"crypto/ed25519"
	crand "crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/sync"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs/refstest"
	"github.com/memvcs/mem/refs/remote"
)

// A laneForger writes validly signed lanes of unknown devices into a remote, all of them in one pack. The number of a lane determines its
// content.
type laneForger struct {
	t       testing.TB
	book    *phrasebook
	project string                    // of the victim
	shared  map[string]refstest.Entry // directories of the victim's lane that others may claim to have
	seed    uint64
	bound   uint64 // the largest clock of a lane that is taken

	w    *pack.Writer // of the objects; nil: they are kept
	kept []pack.Entry
	refs []string
}

// seal pushes lanes to the encrypted remote "sealed" of a memory, as a member of it may: from a copy of the memory, each as it is. It returns
// their names.
func (f *laneForger) seal(memory, member string, numbers []uint64) (refs []string) {
	f.t.Helper()
	if err := copyPrivate(member, memory); err != nil {
		f.t.Fatal(err)
	}
	m, err := layers.Open(member, state.Options{Now: time.Now, Rand: crand.Reader, LockTimeout: time.Minute, Workers: 1})
	if err != nil {
		f.t.Fatal(err)
	}
	defer m.Close()
	r, err := sync.Remote(m.DB, "sealed")
	if err != nil {
		f.t.Fatal(err)
	}
	client, err := sync.Client(f.t.Context(), m.DB, r, nil)
	if err != nil {
		f.t.Fatal(err)
	}
	defer client.Close()
	s, err := client.Open(f.t.Context(), remote.Receive)
	if err != nil {
		f.t.Fatal(err)
	}
	defer s.Close()
	f.w = nil
	for _, n := range numbers {
		f.kept = nil
		l := f.lane(n)
		tip := f.write(l)
		b := remote.Batch{Updates: []remote.Update{{Ref: l.Ref(), New: tip}}, Objects: len(f.kept), Entries: func(yield func(pack.Entry) error) error {
			for _, e := range f.kept {
				if err := yield(e); err != nil {
					return err
				}
			}
			return nil
		}}
		for _, e := range f.kept {
			b.Size += int64(e.Size())
		}
		if err := s.Push(f.t.Context(), b); err != nil {
			f.t.Fatalf("push lane %d to the encrypted remote: %v", n, err)
		}
		refs = append(refs, l.Ref())
	}
	return refs
}

// forge adds lanes to a remote.
func (f *laneForger) forge(hub string, numbers []uint64) {
	f.t.Helper()
	var err error
	f.refs = nil
	if f.w, err = pack.Create(filepath.Join(hub, "objects", "pack"), "forged"); err != nil {
		f.t.Fatal(err)
	}
	for _, n := range numbers {
		f.write(f.lane(n))
	}
	_, err = f.w.Close()
	if err == nil {
		slices.Sort(f.refs)
		err = os.WriteFile(filepath.Join(hub, "packed-refs"), []byte("# pack-refs with: peeled fully-peeled sorted \n"+strings.Join(f.refs, "")), 0o600)
	}
	if err != nil {
		f.t.Fatal(err)
	}
}

// lane makes up a lane.
func (f *laneForger) lane(n uint64) refstest.ForgedLane {
	rng := rand.New(rand.NewPCG(f.seed, n))
	var seed [ed25519.SeedSize]byte
	for i := range seed {
		seed[i] = byte(rng.Uint32())
	}
	l := refstest.ForgedLane{Time: time.Date(2026, 1, 18, 10, 0, 0, 0, time.UTC), Project: f.project, Device: fmt.Sprintf("%016x%016x", rng.Uint64(), rng.Uint64()), Key: ed25519.NewKeyFromSeed(seed[:]), Files: map[string]refstest.Entry{},
		Name: "forged-" + pick(rng, []string{"x", "laptop", lanesCanary}), Subject: pick(rng, []string{"add", "compress a1aaaaaa:v003", lanesCanary, "\x1b[31m" + lanesCanary})}
	switch rng.IntN(10) {
	case 0:
		l.Project = fmt.Sprintf("%016x", rng.Uint64())
	case 1:
		l.Project = "0000000000000000"
	}
	l.Clock = 10 + rng.Uint64N(1<<20)
	if rng.IntN(20) == 0 {
		l.Clock = pick(rng, []uint64{f.bound, f.bound - 1, f.bound + 1, 1 << 45, 1<<45 + 1, 1 << 62, 1<<64 - 1})
	}
	l.AddDevice()
	if rng.IntN(4) > 0 {
		l.AddRecord("project", 2, f.book.body(rng, "project"))
	}
	wild := rng.IntN(10) == 0 // most lanes get past the door
	for range 1 + rng.IntN(4) {
		kind := pick(rng, f.book.kinds)
		body := f.book.body(rng, kind)
		for try := 0; !wild && records.CheckBody(kind, body) != nil && try < 20; try++ {
			body = f.book.body(rng, kind)
		}
		clock := l.Clock - rng.Uint64N(5)
		if rng.IntN(100) == 0 {
			clock += 10
		}
		l.AddRecord(kind, clock, body)
	}
	if rng.IntN(6) == 0 {
		maps.Copy(l.Files, f.shared)
	}
	f.content(rng, &l)
	f.oddity(rng, &l)
	return l
}

// content adds objects that are what they say, and records that name them: a transcript, a version, a composition.
func (f *laneForger) content(rng *rand.Rand, l *refstest.ForgedLane) {
	if rng.IntN(3) > 0 {
		return
	}
	put := func(text string) string {
		l.Files[refstest.Fan("objects", b3sum(text), "")] = refstest.Entry{Mode: "100644", ID: f.object(pack.Blob, []byte(text))}
		return b3sum(text)
	}
	version := put(`{"role":"user","text":"` + lanesCanary + `","src":[[1,1]]}` + "\n")
	name := pick(rng, []string{"a1aaaaaa", "b2bbbbbb", "a1aaaaab", "d4dddddd", "e5eeeeee"})
	original := put(fmt.Sprintf(`{"type":"user","sessionId":%q,"cwd":"/home/dev/shop","timestamp":"2026-01-19T10:00:00Z","message":{"role":"user","content":"##keepit1.00##%s##/keepit##"}}`+"\n", name, lanesCanary))
	l.AddRecord("session", l.Clock, fmt.Appendf(nil, `{"session":%q,"generation":%d,"original":%q,"size":1000000,"segments":1,"scan":{"closed":170,"values":99,"messages":99,"typed":1,"first":"2026-01-19T10:00:00Z","last":"2026-01-19T10:00:00Z","session":%q,"cwd":"/home/dev/shop","title":"Taxes are rounded down.","titleFrom":4},"source":"/home/dev/x.jsonl","markers":[{"n":1,"weight":"1.00","start":0,"end":20}]}`,
		name, rng.IntN(9), original, name))
	for _, body := range f.book.bodies["version"] {
		v := maps.Clone(body.(map[string]any)) // the very derivation of the victim, with another text
		d := maps.Clone(v["derivation"].(map[string]any))
		d["output"], v["derivation"] = version, d
		b, err := json.Marshal(v)
		if err != nil {
			f.t.Fatal(err)
		}
		l.AddRecord("version", l.Clock, b)
	}
	composed := put(`{"format":"mem-composition 1","name":"ctx","budget":4000,"counter":"x","tokens":1}` + "\n" + `{"part":{"session":"a1aaaaaa","version":"v001","hash":"` + version + `","tokens":1,"messages":1}}` + "\n" + `{"role":"user","text":"` + lanesCanary + `","src":[[1,1]]}` + "\n")
	l.AddRecord("composition", l.Clock, fmt.Appendf(nil, `{"name":"ctx","budget":4000,"strategy":"equal","parts":[{"project":%q,"session":"a1aaaaaa","label":"v001","output":%q,"tokens":1}],"derivation":{"output":%q,"inputs":[%q],"recipe":{"step":"compose","version":2,"params":{"name":"ctx"}}},"tokens":1,"counter":"x","messages":1}`,
		f.project, version, composed, version))
}

// oddity gives a few lanes an invalid tree.
func (f *laneForger) oddity(rng *rand.Rand, l *refstest.ForgedLane) {
	if rng.IntN(20) > 0 {
		return
	}
	text := fmt.Sprint("x", rng.Uint64())
	id := f.object(pack.Blob, []byte(text))
	path := refstest.Fan("objects", b3sum(text), "")
	switch rng.IntN(4) {
	case 0:
		l.Files[path] = refstest.Entry{Mode: pick(rng, []string{"120000", "100755", "160000", "40000", "100664", ""}), ID: id}
	case 1:
		l.Files["README"] = refstest.Entry{Mode: "100644", ID: id}
	case 2:
		l.Files["objects"] = refstest.Entry{Mode: "40000", ID: id} // a file as directory
	case 3:
		l.Files[refstest.Fan("objects", b3sum("y"), "")] = refstest.Entry{Mode: "100644", ID: id}
	}
}

func (f *laneForger) object(k pack.Kind, content []byte) pack.ID {
	f.t.Helper()
	e := pack.Encode(k, content, 1)
	if f.w == nil {
		f.kept = append(f.kept, e)
	} else if err := f.w.Add(e); err != nil {
		f.t.Fatal(err)
	}
	return e.ID
}

// write writes a lane, whose device signs it.
func (f *laneForger) write(l refstest.ForgedLane) pack.ID {
	f.t.Helper()
	id, err := l.Write(func(k pack.Kind, content []byte) (pack.ID, error) { return f.object(k, content), nil })
	if err != nil {
		f.t.Fatal(err)
	}
	f.refs = append(f.refs, fmt.Sprintf("%s %s\n", id, l.Ref()))
	return id
}
