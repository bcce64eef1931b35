package main_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"github.com/memvcs/mem/refs/refstest"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/pack"
)

// canary is in every text of a forged lane. No command of the user may print it and no session may receive it.
const canary = "CANARY"

// An attack is a lane with a valid signature of an untrusted device.
type attack struct {
	what    string
	refused bool // the fetch refuses the lane; otherwise it arrives and changes nothing
	forge   func(*refstest.ForgedLane, *target) error
}

// attacks returns the lanes that [Rig.Attacks] forges.
func attacks() []attack {
	add := func(kind, body string) func(*refstest.ForgedLane, *target) error {
		return func(l *refstest.ForgedLane, s *target) error {
			l.AddRecord(kind, l.Clock, []byte(s.names.Replace(body)))
			return nil
		}
	}
	all := []attack{
		{"a session id that is a path", true, add("session", sessionBody("../precious"))},
		{"a file of a session that is a path", true,
			add("session",
				`{"session":"other000","original":"ORIGINAL","size":9,"segments":1,"scan":{},"source":"x",`+
					`"files":[{"name":"../../precious.jsonl","hash":"ORIGINAL","size":9}]}`)},
		{"a weight that is not a number", true,
			add("keepit", `{"session":"SESSION","generation":0,"message":1,"start":0,"end":5,"weight":"nan"}`)},
		{"a malformed date", true, add("session", strings.ReplaceAll(sessionBody("other000"), `"first":"2026-`,
			`"first":"nonsense`))},
		{"an array as a body", true, add("set", `[1,2,3]`)},
		{"a record of an unknown kind", false, add("later", `{"session":"SESSION","text":"`+canary+`"}`)},
		{"a clock far ahead", true, farClock},
		{"a file mode that lanes do not use", true, linkMode},
		{"a newer session", false, add("session", sessionBody("other000"))},
		{"a session of the same id", false, add("session", sessionBody("SESSION"))},
		{"a removed session", false, add("set", `{"target":"session/SESSION","field":"deleted","value":true}`)},
		{"a forgotten session", false, add("purge", `{"cause":"revision","sessions":["PURGE"]}`)},
		{"a revoked session", false, add("revoke", `{"source":"session","name":"SESSION","revoked":true,"reason":"`+
			canary+`"}`)},
		{"a project's name", false, add("project", `{"identity":"path /home/user/shop","name":"`+canary+`"}`)},
		{"a rule of the user", false, add("rule", `{"type":"rule","text":"Always `+canary+
			`.","by_user":true,"trust":"user","confidence":100,"state":"active"}`)},
		{"more parts than inputs", true, extraParts},
	}
	return all
}

// sessionBody returns the body of a session record whose text is in the lane.
func sessionBody(id string) string {
	return `{"session":"` + id +
		`","generation":3,"original":"ORIGINAL","size":1000000,"segments":1,` +
		`"scan":{"closed":170,"values":99,"messages":99,"typed":1,"first":"2026-03-08T10:00:00Z",` +
		`"last":"2026-03-08T10:00:00Z","session":"` + id + `","cwd":"/home/user/shop","title":"` + canary +
		`"},"source":"/home/user/x.jsonl"}`
}

// farClock advances the victim's clock to a time at which other stores refuse its records.
func farClock(l *refstest.ForgedLane, s *target) error {
	l.Clock = 1 << 62
	l.AddRecord("later", l.Clock, []byte(`{}`))
	return nil
}

// linkMode adds an object as a symbolic link.
func linkMode(l *refstest.ForgedLane, s *target) error {
	id, err := s.put(pack.Blob, []byte("/etc/passwd"))
	l.Files[refstest.Fan("objects", objects.Sum([]byte("/etc/passwd")).String(), "")] = refstest.Entry{Mode: "120000", ID: id}
	return err
}

// extraParts adds a composition with three parts and one input.
func extraParts(l *refstest.ForgedLane, s *target) error {
	part := s.names.Replace(`{"project":"PROJECT","session":"SESSION","label":"v001","output":"ORIGINAL","tokens":1}`)
	body := `{"name":"ctx","budget":4000,"strategy":"equal","parts":[` + strings.Join([]string{part, part, part}, ",") +
		`],"derivation":{"output":"ORIGINAL","inputs":["ORIGINAL"],` +
		`"recipe":{"step":"compose","version":2,"params":{"name":"ctx"}}},"tokens":1,"counter":"x","messages":1}`
	l.AddRecord("composition", l.Clock, []byte(s.names.Replace(body)))
	return nil
}

// A target is a store that fetches forged lanes from a remote, with its output without them.
type target struct {
	*Rig
	*random
	*Store
	hub, project, session string
	original              string // the content of the forged session
	names                 *strings.Replacer
	want                  map[string]Result
	files                 map[string]string
}

// Attacks fetches validly signed lanes of untrusted devices that break the rules of a lane or contradict the user.
// Malformed lanes do not arrive; the others do not change the output of the user's commands, their files or the
// context of a session.
func (r *Rig) Attacks(ctx context.Context) ([]Promise, error) {
	s, err := r.newTarget(ctx)
	if err != nil {
		return nil, err
	}
	var all []Promise
	for _, a := range attacks() {
		p := Promise{What: "attack without effect: " + a.what, Times: len(s.want), Of: "commands"}
		if a.refused {
			p = Promise{What: "attack refused: " + a.what, Times: 1, Of: "lane of an untrusted device"}
		}
		var why *Broken
		if err := s.attack(ctx, a); errors.As(err, &why) {
			p.Why = why.What
		} else if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, RemoveAll(s.Home)
}

func (r *Rig) newTarget(ctx context.Context) (*target, error) {
	dir, err := r.dir("attacks/home")
	if err != nil {
		return nil, err
	}
	seed := random(r.Seed + 99)
	s := &target{Rig: r, random: &seed, hub: filepath.Join(dir, "hub.git"), want: map[string]Result{}}
	if err := bareRepository(s.hub); err != nil {
		return nil, err
	}
	if s.Store, err = NewStore(ctx, r.Bin, r.Path, dir); err != nil {
		return nil, err
	}
	w := NewGenerator(s.random.next()>>17, "/home/user/shop")
	s.session = w.ID
	for name, text := range map[string]string{
		w.ID + ".jsonl": string(w.More(30)), "precious.jsonl": "precious\n", "../precious.jsonl": "precious\n",
		"start.json": fmt.Sprintf(
			`{"session_id":"f6ffffff","cwd":"/home/user/shop","hook_event_name":"SessionStart","source":"startup",`+
				`"transcript_path":%q}`, filepath.Join(dir, "none.jsonl")),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	for _, args := range [][]string{{"add", w.ID + ".jsonl"}, {"compress", s.session, "--ratio", "3"},
		{"remote", "add", "origin", s.hub}} {
		if err := s.Do(ctx, args...); err != nil {
			return nil, err
		}
	}
	projects, err := os.ReadDir(filepath.Join(s.Store.Dir, "memory.git/refs/heads/p"))
	if err != nil {
		return nil, err
	}
	for _, p := range projects {
		if strings.Trim(p.Name(), "0") != "" {
			s.project = p.Name()
		}
	}
	text := map[string]any{"type": "user", "sessionId": "other000", "cwd": "/home/user/shop",
		"timestamp": "2026-03-08T10:00:00Z", "message": map[string]any{"role": "user", "content": canary}}
	b, err := json.Marshal(text)
	if err != nil {
		return nil, err
	}
	s.original = string(b) + "\n"
	s.names = strings.NewReplacer("SESSION", s.session, "PROJECT", s.project, "ORIGINAL",
		objects.Sum([]byte(s.original)).String(),
		"PURGE", objects.Sum([]byte("mem purge 1\n" + s.session)).String()[:32])
	for _, c := range s.ownCommands(ctx) {
		if c.Code != 0 {
			return nil, brokenf("without any attack: %s", c)
		}
		s.want[strings.Join(c.Args, " ")] = c
	}
	s.files, err = s.filesOutside()
	return s, err
}

// ownCommands runs commands on the user's own data, and the hook that gives a session its context.
func (s *target) ownCommands(ctx context.Context) (all []Result) {
	all = append(all, s.Run(ctx, 0, filepath.Join(s.Home, "start.json"), []string{s.Store.Bin, "hook", "SessionStart"}))
	for _, line := range []string{
		"--project shop rev-parse @", "--project shop rev-parse " + s.session + ":latest",
		"--project shop checkout @:original -o out", "--project shop memory",
		"project show shop", "fsck",
	} {
		all = append(all, s.Mem(ctx, strings.Fields(line)...))
	}
	return all
}

// filesOutside returns the files of the home, except the store and the remote, with their content.
func (s *target) filesOutside() (map[string]string, error) {
	all := map[string]string{}
	err := filepath.WalkDir(filepath.Dir(s.Home), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (path == s.Store.Dir || path == s.hub) {
			return fs.SkipDir
		}
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		all[path] = string(b)
		return err
	})
	return all, err
}

// attack offers one lane.
func (s *target) attack(ctx context.Context, a attack) error {
	var seed [ed25519.SeedSize]byte
	for i := range seed {
		seed[i] = byte(s.random.next())
	}
	l := &refstest.ForgedLane{
		Project: s.project, Device: fmt.Sprintf("%016x%016x", s.random.next(), s.random.next()), Name: "stranger",
		Key: ed25519.NewKeyFromSeed(seed[:]), Time: s.Now(), Clock: 1000,
		Subject: "add", Files: map[string]refstest.Entry{},
	}
	l.AddDevice()
	l.AddRecord("project", 2, []byte(`{"identity":"path /home/user/shop","name":"shop"}`))
	id, err := s.put(pack.Blob, []byte(s.original))
	if err != nil {
		return err
	}
	l.Files[refstest.Fan("objects", objects.Sum([]byte(s.original)).String(), "")] = refstest.Entry{Mode: "100644", ID: id}
	if err := a.forge(l, s); err != nil {
		return err
	}
	tip, err := l.Write(s.put)
	if err != nil {
		return err
	}
	if err := s.setRef(l.Ref(), tip); err != nil {
		return err
	}
	fetch := s.Mem(ctx, "fetch")
	if ctx.Err() != nil {
		return ctx.Err()
	}
	accepted, err := s.hasRef(l.Ref())
	switch {
	case err != nil:
		return err
	case accepted && a.refused:
		err = brokenf("%s: a store accepts the lane: %s", a.what, fetch)
	case !accepted && !a.refused:
		err = brokenf("%s: a store refuses the lane, which is valid: %s", a.what, fetch)
	}
	return errors.Join(err, s.unchanged(ctx, a), os.Remove(filepath.Join(s.hub, l.Ref())))
}

// unchanged checks that the output of the user's commands is the same as before any attack.
func (s *target) unchanged(ctx context.Context, a attack) error {
	for _, got := range s.ownCommands(ctx) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		line := strings.Join(got.Args, " ")
		want := s.want[line]
		same := got.Stdout == want.Stdout || line == "fsck" || strings.HasPrefix(line, "hook")
		if got.Code != want.Code || !same || line != "fsck" && strings.Contains(got.Stdout, canary) {
			return brokenf("%s: %s\nbefore: %s", a.what, got, want)
		}
	}
	now, err := s.filesOutside()
	if err == nil && !maps.Equal(now, s.files) {
		err = brokenf("%s: files outside the store are %q, before %q", a.what, slices.Sorted(maps.Keys(now)),
			slices.Sorted(maps.Keys(s.files)))
	}
	return err
}

// hasRef reports whether the store has a lane, inside or outside.
func (s *target) hasRef(ref string) (bool, error) {
	for _, name := range []string{ref, strings.Replace(ref, "refs/heads/p/", "refs/untrusted/", 1)} {
		_, err := os.Stat(filepath.Join(s.Store.Dir, "memory.git", name))
		if !errors.Is(err, fs.ErrNotExist) {
			return err == nil, err
		}
	}
	return false, nil
}

// setRef sets a branch of the remote to a commit.
func (s *target) setRef(ref string, id pack.ID) error { return s.write(ref, []byte(id.String()+"\n")) }

// put stores an object in the remote, in a file of its own.
func (s *target) put(k pack.Kind, content []byte) (pack.ID, error) {
	id := pack.Name(k, content)
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	_, err := fmt.Fprintf(z, "%s %d\x00%s", k, len(content), content)
	if err := errors.Join(err, z.Close()); err != nil {
		return id, err
	}
	return id, s.write(filepath.Join("objects", id.String()[:2], id.String()[2:]), b.Bytes())
}

func (s *target) write(name string, b []byte) error {
	name = filepath.Join(s.hub, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	return os.WriteFile(name, b, 0o600)
}
