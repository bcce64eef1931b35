package main

import (
	"bytes"
	"crypto/sha1"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// A keeping is a way to make a passage shorter: it returns a text of at most budget tokens, better of nearly as many.
type keeping struct {
	name string
	keep func(p passage, budget int) (string, error)
}

// barRetention compresses passages of real sessions with mem and looks for what should still be there, beside lines
// taken at random and the last lines.
func (b *bench) barRetention() ([]row, error) {
	if b.transcripts == "" {
		return nil, errors.New("needs real sessions: -transcripts DIR")
	}
	ps, err := findPassages(b.transcripts)
	if err != nil {
		return nil, err
	}
	count := map[string]int{}
	for _, p := range ps {
		count[p.part]++
	}
	if count["a"] == 0 || count["b"] == 0 || count["c"] == 0 {
		return nil, fmt.Errorf("the sessions have %d summaries, %d commits and %d mended failures; each part needs one", count["a"], count["b"], count["c"])
	}
	about := fmt.Sprintf("%d summaries, %d commits, %d sessions with mended failures", count["a"], count["b"], count["c"])
	b.kept = map[string]string{}
	ways := []keeping{{"mem", b.keptByMem}, {"random", keptAtRandom}, {"tail", keptAtEnd}, {"L1", b.keptByL1}}
	var rows []row
	for _, level := range []struct {
		name   string
		budget func(passage) int
		demand float64
	}{
		{"at the length of the summaries", func(p passage) int { return p.length }, 0},
		{"at 10x", func(p passage) int { return unitTokens(p.units) / 10 }, .75},
		{"at 30x", func(p passage) int { return unitTokens(p.units) / 30 }, .52},
	} {
		scores := make([]score, len(ways))
		for i, w := range ways {
			for _, p := range ps {
				budget := level.budget(p)
				if budget == 0 {
					continue
				}
				text, err := w.keep(p, budget)
				if err != nil {
					return rows, err
				}
				if w.name != "L1" && runes(text)/4 > budget {
					return rows, fmt.Errorf("%s took %d tokens of %d", w.name, runes(text)/4, budget)
				}
				scores[i].add(p, text)
			}
		}
		r := row{Bar: "retention", Corpus: about, Unit: "of 1"}
		if level.demand > 0 {
			r.What, r.Value = "what is kept "+level.name, scores[0].total()
			r.Demand, r.Least = atLeast(level.demand)
		} else {
			r.What, r.Value = "anchors "+level.name+" / those of L1", scores[0].anchors.value()/scores[3].anchors.value()
			r.Demand, r.Least = atLeast(.96)
		}
		for i, w := range ways {
			r.Detail += fmt.Sprintf("%s%s %v", strings.Repeat("; ", min(i, 1)), w.name, scores[i])
		}
		rows = append(rows, r)
	}
	return rows, nil
}

func findPassages(dir string) ([]passage, error) {
	var out []passage
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(file) != ".jsonl" {
			return err
		}
		session, err := os.ReadFile(file)
		if err == nil {
			out = append(out, passages(entries(session))...)
		}
		return err
	})
	return out, err
}

// keptByMem asks mem for nine tenths of the budget, and again, with what it learned, while the text is too long or does
// not fill nine tenths: mem's tokens are not four characters.
func (b *bench) keptByMem(p passage, budget int) (string, error) {
	id, err := b.remember(p)
	if err != nil {
		return "", err
	}
	best, ask := "", budget*9/10
	for range 3 {
		text, err := b.shorter(id, max(ask, 1))
		if err != nil {
			return "", err
		}
		n := runes(text)
		if n <= 4*budget && n > runes(best) {
			best = text
		}
		if n <= 4*budget && 10*n >= 36*budget || n == 0 {
			break
		}
		ask = ask * 97 * 4 * budget / 100 / n
	}
	return best, nil
}

func (b *bench) shorter(id string, tokens int) (string, error) {
	out, err := b.output(b.mem, "compress", id, "--tokens", fmt.Sprint(tokens), "--json")
	if err != nil {
		return "", err
	}
	var reply struct {
		Version string `json:"version"`
		Tokens  int    `json:"output_tokens"`
	}
	if err := json.Unmarshal(out, &reply); err != nil {
		return "", fmt.Errorf("mem compress --json: %w", err)
	}
	if reply.Tokens > tokens {
		return "", fmt.Errorf("mem compress --tokens %d made %d", tokens, reply.Tokens)
	}
	out, err = b.output(b.mem, "show", id+":"+reply.Version, "--format", "text")
	return string(out), err
}

// keptByL1 is what the best of compressions could keep of what mem reads; it has no budget.
func (b *bench) keptByL1(p passage, _ int) (string, error) {
	id, err := b.remember(p)
	if err != nil {
		return "", err
	}
	out, err := b.output(b.mem, "show", id+":L1", "--format", "text")
	return string(out), err
}

var sessionID = regexp.MustCompile(`"sessionId":\s*"[^"]*"`)

// remember adds a passage to the store, as a session of its own, once.
func (b *bench) remember(p passage) (string, error) {
	body := append(bytes.Join(p.lines, []byte("\n")), '\n')
	h := fmt.Sprintf("%x", sha1.Sum(append([]byte(p.part), body...)))
	if id, ok := b.kept[h]; ok {
		return id, nil
	}
	if len(b.kept) == 0 {
		if err := b.initStore(); err != nil {
			return "", err
		}
	}
	id := h[:8] + "-" + h[8:12] + "-5" + h[13:16] + "-8" + h[17:20] + "-" + h[20:32]
	file := filepath.Join(b.tmp, id+".jsonl")
	if err := os.WriteFile(file, sessionID.ReplaceAll(body, []byte(`"sessionId":"`+id+`"`)), 0o600); err != nil {
		return "", err
	}
	defer os.Remove(file)
	if err := b.once(b.mem, "add", file); err != nil {
		return "", err
	}
	b.kept[h] = id
	return id, nil
}

// keptAtRandom takes lines in an order that is the same in every run.
func keptAtRandom(p passage, budget int) (string, error) {
	return takeLines(p.units, rand.New(rand.NewSource(1)).Perm(len(p.units)), budget), nil
}

// keptAtEnd takes the last lines.
func keptAtEnd(p passage, budget int) (string, error) {
	order := make([]int, len(p.units))
	for i := range order {
		order[i] = len(order) - 1 - i
	}
	return takeLines(p.units, order, budget), nil
}

func takeLines(us []line, order []int, budget int) string {
	taken, left := make([]bool, len(us)), 4*budget
	for _, i := range order {
		if n := runes(us[i].text) + 1; n <= left {
			taken[i], left = true, left-n
		}
	}
	var b strings.Builder
	for i, u := range us {
		if taken[i] {
			b.WriteString(u.text + "\n")
		}
	}
	return b.String()
}
