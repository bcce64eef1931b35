package main

import (
	"bufio"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// makeCorpus writes count sessions of together about total bytes to dir, as Claude Code lays them
// out: one directory a project. Sizes are log-normal. The same arguments write the same bytes.
//
// The mix of records is that of real sessions (half of the bytes are results of tools, a third
// progress, a tenth calls; median line 600 bytes), and so is what makes them compress: files are read
// again after edits, outputs repeat what is in them, and signatures and images do not compress.
func makeCorpus(dir string, total int64, count int, seed uint64) error {
	materials, err := gather()
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
		m := materials[i%len(materials)]
		path := filepath.Join(dir, "-home-user-"+m.name)
		if err := os.MkdirAll(path, 0o700); err != nil {
			return err
		}
		s := newSession(m, seed, uint64(i+1))
		if err := s.write(filepath.Join(path, s.id+".jsonl"), int64(float64(total)*size/sum)); err != nil {
			return err
		}
	}
	return nil
}

// A session writes one transcript.
type session struct {
	*material
	rng    *rand.Rand
	out    *bufio.Writer
	n      int64
	id     string
	cwd    string
	parent string
	now    time.Time
	topic  int // where in the sentences this session's vocabulary begins
	cached int
	files  map[string]string // as the session has edited them
	recent []string
}

func newSession(m *material, seed, n uint64) *session {
	s := &session{material: m, rng: rand.New(rand.NewPCG(seed, n)), cwd: "/home/user/" + m.name, files: map[string]string{}}
	s.id = s.uuid()
	s.now = time.Date(2026, 1, 1+int(n%28), 9, 0, 0, 0, time.UTC)
	s.topic = s.rng.IntN(len(m.sentences))
	return s
}

func (s *session) write(path string, limit int64) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	s.out = bufio.NewWriterSize(f, 1<<20)
	for s.n < limit {
		s.turn(limit)
	}
	return errors.Join(s.out.Flush(), f.Close())
}

// emit writes one line. The first error sticks to out and comes back from its Flush.
func (s *session) emit(format string, args ...any) {
	n, _ := fmt.Fprintf(s.out, format+"\n", args...)
	s.n += int64(n)
}

// record writes a line that has the common head of a conversation's records; body follows it.
func (s *session) record(body string, args ...any) {
	parent := "null"
	if s.parent != "" {
		parent = `"` + s.parent + `"`
	}
	s.parent = s.uuid()
	s.emit(`{"parentUuid":%s,"isSidechain":false,"userType":"external","cwd":"%s","sessionId":"%s","version":"2.1.39","gitBranch":"main","slug":"quiet-steady-river",%s,"uuid":"%s","timestamp":"%s"}`,
		parent, s.cwd, s.id, fmt.Sprintf(body, args...), s.parent, s.tick())
}

func (s *session) assistant(block string, args ...any) {
	s.cached += s.rng.IntN(1500)
	s.record(`"message":{"model":"claude-opus-4-6","id":"%s","type":"message","role":"assistant","content":[%s],"stop_reason":null,"usage":{"input_tokens":%d,"cache_creation_input_tokens":%d,"cache_read_input_tokens":%d,"output_tokens":%d,"service_tier":"standard"}},"requestId":"%s","type":"assistant"`,
		s.name22("msg"), fmt.Sprintf(block, args...), 1+s.rng.IntN(5), s.rng.IntN(3000), s.cached, s.rng.IntN(600), s.name22("req"))
}

func (s *session) user(text string) {
	s.emit(`{"type":"file-history-snapshot","messageId":"%s","snapshot":{"trackedFileBackups":{},"timestamp":"%s"},"isSnapshotUpdate":false}`, s.uuid(), s.tick())
	s.record(`"type":"user","message":{"role":"user","content":%s},"todos":[],"permissionMode":"default"`, quote(text))
}

// turn writes a request, the work it causes, and the answer.
func (s *session) turn(limit int64) {
	text := s.prose(1 + s.rng.IntN(4))
	if s.rng.IntN(12) == 0 {
		text += fmt.Sprintf("\n\n##keepit0.%02d## %s", 5*s.rng.IntN(20), s.prose(1))
	}
	s.user(text)
	for range 3 + s.rng.IntN(14) {
		if s.n > limit {
			break
		}
		s.step()
	}
	s.assistant(`{"type":"text","text":%s}`, quote(s.prose(2+s.rng.IntN(5))))
	s.record(`"type":"system","subtype":"turn_duration","durationMs":%d,"isMeta":false`, s.rng.IntN(900_000))
}

// step writes what the assistant thinks and says, and one call of a tool.
func (s *session) step() {
	if s.rng.IntN(100) < 35 {
		signature := s.random(int(math.Exp(s.rng.NormFloat64()*0.6 + 5.9)))
		s.assistant(`{"type":"thinking","thinking":%s,"signature":"%s"}`, quote(s.prose(1+s.rng.IntN(7))), base64.StdEncoding.EncodeToString(signature))
	}
	if s.rng.IntN(100) < 50 {
		s.assistant(`{"type":"text","text":%s}`, quote(s.prose(1+s.rng.IntN(4))))
	}
	switch k := s.rng.IntN(1000); {
	case k < 340:
		s.read()
	case k < 660:
		s.bash()
	case k < 820:
		s.edit()
	case k < 920:
		s.grep()
	case k < 922:
		s.image()
	case k < 960:
		s.agent()
	default:
		s.todo()
	}
}

// prose returns n sentences of the session's own topic.
func (s *session) prose(n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(s.sentences[(s.topic+s.rng.IntN(2500))%len(s.sentences)])
		b.WriteString([]string{" ", " ", " ", "\n\n"}[s.rng.IntN(4)])
	}
	return strings.TrimSpace(b.String())
}

func (s *session) tick() string {
	s.now = s.now.Add(time.Duration(30+s.rng.IntN(9000)) * time.Millisecond)
	return s.now.Format("2006-01-02T15:04:05.000Z")
}

func (s *session) random(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(s.rng.Uint32())
	}
	return b
}

func (s *session) uuid() string {
	h := hex.EncodeToString(s.random(16))
	return h[:8] + "-" + h[8:12] + "-4" + h[13:16] + "-a" + h[17:20] + "-" + h[20:]
}

func (s *session) name22(kind string) string {
	return kind + "_01" + base64.RawURLEncoding.EncodeToString(s.random(16))
}

func quote(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		panic(err) // a string always encodes
	}
	return strings.TrimSuffix(b.String(), "\n")
}
