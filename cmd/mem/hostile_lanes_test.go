//go:build unix

package main

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/binary"
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

	bodies "github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
)

// A laneForger writes lanes of devices that nobody knows, validly signed, into a remote: all of them in one pack. What a lane holds follows
// from its number.
type laneForger struct {
	t       testing.TB
	book    *phrasebook
	project string              // of the victim
	shared  map[string]rawEntry // directories of the victim's lane that others may claim to have
	seed    uint64
	bound   uint64 // the largest clock of a lane that is taken

	w    *pack.Writer
	refs []string
}

// A forgedLane is what one lane says.
type forgedLane struct {
	project, device, name string
	key                   ed25519.PrivateKey
	clock                 uint64
	records               []string
	files                 map[string]rawEntry // by path
	subject               string
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
func (f *laneForger) lane(n uint64) forgedLane {
	rng := rand.New(rand.NewPCG(f.seed, n))
	var seed [ed25519.SeedSize]byte
	for i := range seed {
		seed[i] = byte(rng.Uint32())
	}
	l := forgedLane{project: f.project, device: fmt.Sprintf("%016x%016x", rng.Uint64(), rng.Uint64()), key: ed25519.NewKeyFromSeed(seed[:]), files: map[string]rawEntry{},
		name: "forged-" + pick(rng, []string{"x", "laptop", lanesCanary}), subject: pick(rng, []string{"add", "compress a1aaaaaa:v003", lanesCanary, "\x1b[31m" + lanesCanary})}
	switch rng.IntN(10) {
	case 0:
		l.project = fmt.Sprintf("%016x", rng.Uint64())
	case 1:
		l.project = "0000000000000000"
	}
	l.clock = 10 + rng.Uint64N(1<<20)
	if rng.IntN(20) == 0 {
		l.clock = pick(rng, []uint64{f.bound, f.bound - 1, f.bound + 1, 1 << 45, 1<<45 + 1, 1 << 62, 1<<64 - 1})
	}
	public := base64.StdEncoding.EncodeToString(sshWire(l.key.Public().(ed25519.PublicKey)))
	l.say("device", 1, fmt.Appendf(nil, `{"id":%q,"name":%q,"key":"ssh-ed25519 %s"}`, l.device, l.name, public))
	if rng.IntN(4) > 0 {
		l.say("project", 2, f.book.body(rng, "project"))
	}
	wild := rng.IntN(10) == 0 // most lanes get past the door
	for range 1 + rng.IntN(4) {
		kind := pick(rng, f.book.kinds)
		body := f.book.body(rng, kind)
		for try := 0; !wild && bodies.CheckBody(kind, body) != nil && try < 20; try++ {
			body = f.book.body(rng, kind)
		}
		clock := l.clock - rng.Uint64N(5)
		if rng.IntN(100) == 0 {
			clock += 10
		}
		l.say(kind, clock, body)
	}
	if rng.IntN(6) == 0 {
		maps.Copy(l.files, f.shared)
	}
	f.content(rng, &l)
	f.oddity(rng, &l)
	return l
}

// say adds a record.
func (l *forgedLane) say(kind string, clock uint64, body []byte) {
	b := fmt.Appendf(nil, `{"kind":%q,"device":%q,"lamport":%d,"time":"2026-01-18T10:00:00Z","body":%s}`+"\n", kind, l.device, clock, body)
	l.records = append(l.records, string(b))
}

// content adds objects that are what they say, and records that name them: a transcript, a version, a composition.
func (f *laneForger) content(rng *rand.Rand, l *forgedLane) {
	if rng.IntN(3) > 0 {
		return
	}
	put := func(text string) string {
		l.files[fan("objects", b3sum(text), "")] = rawEntry{"100644", "", f.object(pack.Blob, []byte(text))}
		return b3sum(text)
	}
	version := put(`{"role":"user","text":"` + lanesCanary + `","src":[[1,1]]}` + "\n")
	name := pick(rng, []string{"a1aaaaaa", "b2bbbbbb", "a1aaaaab", "d4dddddd", "e5eeeeee"})
	original := put(fmt.Sprintf(`{"type":"user","sessionId":%q,"cwd":"/home/dev/shop","timestamp":"2026-01-19T10:00:00Z","message":{"role":"user","content":"##keepit1.00##%s##/keepit##"}}`+"\n", name, lanesCanary))
	l.say("session", l.clock, fmt.Appendf(nil, `{"session":%q,"generation":%d,"original":%q,"size":1000000,"segments":1,"scan":{"closed":170,"values":99,"messages":99,"typed":1,"first":"2026-01-19T10:00:00Z","last":"2026-01-19T10:00:00Z","session":%q,"cwd":"/home/dev/shop","title":"Taxes are rounded down.","titleFrom":4},"source":"/home/dev/x.jsonl","markers":[{"n":1,"weight":"1.00","start":0,"end":20}]}`,
		name, rng.IntN(9), original, name))
	for _, body := range f.book.bodies["version"] {
		v := maps.Clone(body.(map[string]any)) // the very derivation of the victim, with another text
		d := maps.Clone(v["derivation"].(map[string]any))
		d["output"], v["derivation"] = version, d
		b, err := json.Marshal(v)
		if err != nil {
			f.t.Fatal(err)
		}
		l.say("version", l.clock, b)
	}
	composed := put(`{"format":"mem-composition 1","name":"ctx","budget":4000,"counter":"x","tokens":1}` + "\n" + `{"part":{"session":"a1aaaaaa","version":"v001","hash":"` + version + `","tokens":1,"messages":1}}` + "\n" + `{"role":"user","text":"` + lanesCanary + `","src":[[1,1]]}` + "\n")
	l.say("composition", l.clock, fmt.Appendf(nil, `{"name":"ctx","budget":4000,"strategy":"equal","parts":[{"project":%q,"session":"a1aaaaaa","label":"v001","output":%q,"tokens":1}],"derivation":{"output":%q,"inputs":[%q],"recipe":{"step":"compose","version":2,"params":{"name":"ctx"}}},"tokens":1,"counter":"x","messages":1}`,
		f.project, version, composed, version))
}

// oddity does to a few lanes what no tree may be.
func (f *laneForger) oddity(rng *rand.Rand, l *forgedLane) {
	if rng.IntN(20) > 0 {
		return
	}
	text := fmt.Sprint("x", rng.Uint64())
	id := f.object(pack.Blob, []byte(text))
	path := fan("objects", b3sum(text), "")
	switch rng.IntN(4) {
	case 0:
		l.files[path] = rawEntry{pick(rng, []string{"120000", "100755", "160000", "40000", "100664", ""}), "", id}
	case 1:
		l.files["README"] = rawEntry{"100644", "", id}
	case 2:
		l.files["objects"] = rawEntry{"40000", "", id} // a file as directory
	case 3:
		l.files[fan("objects", b3sum("y"), "")] = rawEntry{"100644", "", id}
	}
}

func (f *laneForger) object(k pack.Kind, content []byte) pack.ID {
	f.t.Helper()
	e := pack.Encode(k, content, 1)
	if err := f.w.Add(e); err != nil {
		f.t.Fatal(err)
	}
	return e.ID
}

// write writes a lane, whose device signs it.
func (f *laneForger) write(l forgedLane) {
	f.t.Helper()
	l.files["format"] = rawEntry{"100644", "", f.object(pack.Blob, []byte("mem 1\n"))}
	for _, r := range l.records {
		l.files[fan("records", b3sum(r), ".json")] = rawEntry{"100644", "", f.object(pack.Blob, []byte(r))}
	}
	at := time.Date(2026, 1, 18, 10, 0, 0, 0, time.UTC)
	c := gitstore.Commit{Tree: f.dirs(l.files), Name: l.name, Email: l.device + "@mem.invalid", Time: at, Message: fmt.Sprintf("%s\n\nMem-Op: add\nMem-Lamport: %d\n", l.subject, l.clock)}
	c.Signature = sshsig(l.key.Seed(), c.Payload())
	b, err := gitstore.EncodeCommit(c)
	if err != nil {
		f.t.Fatal(err)
	}
	f.refs = append(f.refs, fmt.Sprintf("%s refs/heads/p/%s/%s\n", f.object(pack.Commit, b), l.project, l.device))
}

// dirs writes the trees of files, by their paths.
func (f *laneForger) dirs(files map[string]rawEntry) pack.ID {
	f.t.Helper()
	var es []rawEntry
	below := map[string]map[string]rawEntry{}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		name, rest, deeper := strings.Cut(path, "/")
		if _, taken := files[name]; deeper && taken {
			continue // an oddity, or a shared directory, stands there
		}
		if !deeper {
			es = append(es, rawEntry{files[path].mode, name, files[path].id})
			continue
		}
		if below[name] == nil {
			below[name] = map[string]rawEntry{}
		}
		below[name][rest] = files[path]
	}
	for _, name := range slices.Sorted(maps.Keys(below)) {
		es = append(es, rawEntry{"40000", name, f.dirs(below[name])})
	}
	slices.SortFunc(es, func(a, b rawEntry) int { return strings.Compare(a.key(), b.key()) })
	return f.object(pack.Tree, rawTree(es...))
}

// sshWire is a public key as SSH sends it.
func sshWire(key ed25519.PublicKey) []byte {
	var b bytes.Buffer
	for _, field := range [][]byte{[]byte("ssh-ed25519"), key} {
		b.Write(binary.BigEndian.AppendUint32(nil, uint32(len(field))))
		b.Write(field)
	}
	return b.Bytes()
}
