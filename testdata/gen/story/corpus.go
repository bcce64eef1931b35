package story

import (
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Corpus writes count sessions of together about total bytes below dir, as Claude Code lays them out, to measure with.
// Their sizes are log-normal and their records have the mix of real sessions: half of the bytes are results of tools and the
// client's copies of them, a third progress, and files are read, edited and read again. Files and sentences come
// from the source of Go. The same arguments and the same Go write the same bytes.
func Corpus(dir string, total int64, count int, seed uint64) error {
	projects, err := sources()
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	sizes, sum := make([]float64, count), 0.0
	for i := range sizes {
		sizes[i] = math.Exp(rng.NormFloat64() * 0.9)
		sum += sizes[i]
	}
	for i, size := range sizes {
		p := projects[i%len(projects)]
		s := newSession(uuid("corpus", int(seed)*100_000+i), "/home/dev/"+p.name, "2.1.40", middle, fmt.Sprintf("2026-01-%02dT09:00:00Z", 1+i%28))
		w := worker{session: s, project: p, rng: rand.New(rand.NewPCG(seed, uint64(i+1)))}
		w.work(int(float64(total) * size / sum))
		out := filepath.Join(dir, "projects", "-home-dev-"+p.name)
		if err := os.MkdirAll(out, 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(out, s.id+".jsonl"), s.bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// A project is what generated sessions work on.
type project struct {
	name      string
	paths     []string
	files     map[string]string
	sentences []string
}

// sources reads projects out of the source of Go.
func sources() ([]project, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env GOROOT: %w", err)
	}
	var all []project
	for _, dir := range []string{"net", "go", "crypto", "encoding", "runtime", "text"} {
		p := project{name: dir, files: map[string]string{}}
		err := filepath.WalkDir(filepath.Join(strings.TrimSpace(string(root)), "src", dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || len(p.paths) == 120 {
				return err
			}
			b, err := os.ReadFile(path)
			if err != nil || len(b) < 1500 || len(b) > 40_000 {
				return err
			}
			_, name, _ := strings.Cut(filepath.ToSlash(path), "/src/")
			p.paths = append(p.paths, name)
			p.files[name] = strings.ToValidUTF8(string(b), "?")
			for line := range strings.Lines(p.files[name]) {
				if text, ok := strings.CutPrefix(line, "// "); ok && len(text) > 40 {
					p.sentences = append(p.sentences, strings.TrimSpace(text))
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// A worker fills a session.
type worker struct {
	*session
	project project
	rng     *rand.Rand
	recent  []string
}

func (w *worker) work(limit int) {
	for w.out.Len() < limit {
		w.user(w.prose(1 + w.rng.IntN(4)))
		for n := 3 + w.rng.IntN(12); n > 0 && w.out.Len() < limit; n-- {
			if w.rng.IntN(3) == 0 {
				w.think(w.prose(2 + w.rng.IntN(5)))
			}
			if w.rng.IntN(2) == 0 {
				w.say(w.prose(1 + w.rng.IntN(3)))
			}
			w.step()
		}
		w.system("turn_duration", "durationMs", w.rng.IntN(900_000))
	}
}

func (w *worker) step() {
	name := w.pick()
	lines := strings.Split(w.files[name], "\n")
	at := w.rng.IntN(len(lines))
	part := lines[at:min(len(lines), at+3+w.rng.IntN(40))]
	text := strings.Join(part, "\n")
	switch w.rng.IntN(10) {
	case 0, 1, 2:
		w.read(name)
	case 3, 4, 5:
		w.bash("go test ./"+filepath.ToSlash(filepath.Dir(name))+" 2>&1 | tail -50", text+"\nok  \t"+name+"\t0.2s")
	case 6:
		w.bashFails("go vet ./...", 1, name+":12:3: undefined: "+strings.Fields(w.prose(1))[0]+"\n"+text)
	case 7, 8:
		if text != "" {
			w.edit(name, text, text+"\n// "+w.prose(1)+"\n")
		}
	case 9:
		w.grep("func", text)
		w.progress(text)
	}
}

// progress writes what a subagent did, as the client of that time noted it.
func (w *worker) progress(text string) {
	prompt := w.prose(5)
	for i := range 4 + w.rng.IntN(12) {
		w.record("progress", "data", object{
			"message", object{"type", "user", "message", object{"role", "user", "content", []any{object{"tool_use_id", ident("toolu_", w.id, i), "type", "tool_result", "content", text}}}, "uuid", uuid(w.id+"agent", w.n), "timestamp", w.tick()},
			"normalizedMessages", []any{}, "type", "agent_progress", "prompt", prompt, "agentId", "a1b2c3d",
		}, "toolUseID", ident("agent_msg_", w.id, w.n), "parentToolUseID", ident("toolu_", w.id, w.calls))
	}
}

// pick chooses a file, most often one of the last ones.
func (w *worker) pick() string {
	if len(w.recent) > 0 && w.rng.IntN(10) < 6 {
		return w.recent[w.rng.IntN(len(w.recent))]
	}
	name := w.project.paths[w.rng.IntN(len(w.project.paths))]
	if _, ok := w.files[name]; !ok {
		w.files[name] = w.project.files[name]
	}
	w.recent = append(w.recent, name)[max(0, len(w.recent)-11):]
	return name
}

func (w *worker) prose(n int) string {
	var s []string
	for range n {
		s = append(s, w.project.sentences[w.rng.IntN(len(w.project.sentences))])
	}
	return strings.Join(s, " ")
}
