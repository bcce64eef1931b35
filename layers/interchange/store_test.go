package interchange

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// write writes files below a new directory; the names end in what they contain.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestRecognise checks that a store is known by what is in it.
func TestRecognise(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, want string
		files      map[string]string
	}{
		{"nothing", "", nil},
		{"a web app", "", map[string]string{"manifest.json": `{"name":"x","icons":[]}`}},
		{"a project", contextEngTool, map[string]string{"manifest.json": `{"projectId":"-x","sessions":{}}`}},
		{"projects", contextEngTool, map[string]string{"projects/x/manifest.json": `{"projectId":"-x","sessions":{}}`}},
		{"sessions is a list", "", map[string]string{"projects/x/manifest.json": `{"projectId":"-x","sessions":[]}`}},
		{"a name alone", "", map[string]string{"facts.json": `{"facts":[]}`, "memory.md": "# x"}},
		{"permanent", memoryKeeperTool, map[string]string{"facts.json": `{"permanent":{"rules":[]}}`}},
		{"old facts", memoryKeeperTool, map[string]string{"facts.json": `{"decisions":[],"patterns":[],"issues":[]}`}},
		{"other facts", "", map[string]string{"facts.json": `{"patterns":["*.go"],"permanent":{}}`}},
		{"other concepts", "", map[string]string{"concepts.json": `{"concepts":["a"]}`}},
		{"concepts", memoryKeeperTool, map[string]string{"concepts.json": `{"concepts":[],"nextId":1}`}},
		{"summaries", memoryKeeperTool, map[string]string{"sessions/x.l2.json": `{"exchanges":[]}`}},
		{"below a project", memoryKeeperTool, map[string]string{".claude/memory/facts.json": `{"permanent":{"rules":[]}}`}},
		{"of all projects", memoryKeeperTool, map[string]string{"projects/x/facts.json": `{"decisions":[],"patterns":[],"issues":[]}`}},
		{"Claude Code", "", map[string]string{"projects/-x/a.jsonl": `{"type":"user"}`}},
	} {
		s, err := OpenStore(write(t, c.files))
		if c.want == "" {
			if !errors.Is(err, errNone) {
				t.Errorf("%s: %v, want %v", c.name, err, errNone)
			}
			continue
		}
		if err != nil || s.Tool != c.want {
			t.Errorf("%s: %+v, %v, want %s", c.name, s, err, c.want)
			continue
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestHostile checks that no name of a store leads out of it, and that what is refused is told.
func TestHostile(t *testing.T) {
	t.Parallel()
	outside := write(t, map[string]string{"evil.jsonl": `{"type":"user","message":{"content":"x"}}`})
	dir := write(t, map[string]string{
		"manifest.json": `{"projectId":"-x","sessions":{
			"../a":{}, "":{}, "a/b":{}, "a\u0000b":{}, "text":"x",
			"good":{"compressions":[{"versionId":"v001","file":"../../out"},{"versionId":"v002","file":"link"},{"file":"x"},7]}},
			"compositions":{"k":{"name":"n","components":7},"l":[]}}`,
		"originals/notes.txt": "left here",
	})
	if err := os.MkdirAll(filepath.Join(dir, "originals"), 0o755); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"originals/evil.jsonl": "evil.jsonl"} {
		if err := os.Symlink(filepath.Join(outside, to), filepath.Join(dir, filepath.FromSlash(link))); err != nil {
			t.Skip("no links here:", err)
		}
	}
	s, err := OpenStore(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	p := s.Projects[0]
	for _, x := range p.Sessions {
		if x.File != "" || x.ID != "good" && x.ID != "evil" {
			t.Errorf("session %+v", x)
		}
	}
	var told strings.Builder
	for _, l := range p.Omitted {
		told.WriteString(l.Kind + " " + l.Name + "\n")
	}
	for _, want := range []string{"session ../a", "session a/b", "session text", "versions good", "composition n", "composition l",
		"file originals/notes.txt"} {
		if !strings.Contains(told.String(), want+"\n") {
			t.Errorf("%q is not told:\n%s", want, &told)
		}
	}
}

// TestSyntax checks that an error names the line.
func TestSyntax(t *testing.T) {
	t.Parallel()
	for text, line := range map[string]int{"{\n\"a\":}": 2, "": 1, "{\n\n": 3, "{}\nx": 2, "{\"a\":1}}": 1} {
		_, err := parse("f", []byte(text))
		var s *SyntaxError
		if !errors.As(err, &s) || s.Line != line {
			t.Errorf("parse(%q): %v, want line %d", text, err, line)
		}
	}
}

// FuzzOpen checks that no content of a store's files makes reading it panic, or read what is not in it.
func FuzzOpen(f *testing.F) {
	f.Add(`{"projectId":"-x","sessions":{"a":{"keepitMarkers":[{"messageUuid":"u","weight":0.8,"content":"x"}],`+
		`"compressions":[{"versionId":"v001","file":"v001_x"}]}},"compositions":{"k":{"name":"n","components":[{"sessionId":"a"}]}}}`,
		`{"type":"user","uuid":"u","message":{"content":[{"type":"text","text":"x"}]}}`)
	f.Add(`{"permanent":{"rules":[{"id":"r","content":"x","confidence":1e300}]},"decisions":[{}],"issues":[{"content":"y"}]}`, `{}`)
	f.Add(`{"concepts":[{"name":"x","exchanges":["e1"]}],"nextId":2}`, `{"exchanges":[{"id":"e1","facts":["x",7,null]}]}`)
	f.Fuzz(func(t *testing.T, manifest, lines string) {
		dir := write(t, map[string]string{"manifest.json": manifest, "facts.json": manifest, "concepts.json": manifest,
			"sessions/s.l2.json": lines, "sessions/s.raw.jsonl": lines,
			"memory.md": lines, "originals/a.jsonl": lines})
		s, err := OpenStore(dir)
		if err != nil {
			return
		}
		defer s.Close()
		for _, p := range s.Projects {
			for _, x := range p.Sessions {
				if x.File != "" && !filepath.IsLocal(x.File) {
					t.Errorf("%q leads out of the store", x.File)
				}
			}
		}
	})
}
