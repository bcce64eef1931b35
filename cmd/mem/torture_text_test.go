package main_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// A teller writes a transcript record by record: the same seed, the same bytes.
type teller struct {
	rng    *rand.Rand
	id     string // of the session
	cwd    string
	parent string
	now    time.Time
	turns  int
}

// newTeller returns a teller whose session id follows from n.
func newTeller(n uint64, cwd string) *teller {
	rng := rand.New(rand.NewPCG(n, 7))
	id := fmt.Sprintf("%08x-0000-4000-a000-%012x", rng.Uint32(), n)
	return &teller{rng: rng, id: id, cwd: cwd, now: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)}
}

// more returns about n more records.
func (w *teller) more(n int) []byte {
	var b strings.Builder
	for range n {
		switch k := w.rng.IntN(10); {
		case w.turns == 0 || k == 0:
			w.user(&b)
		case k < 4:
			w.assistant(&b)
		default:
			w.tool(&b)
		}
		w.turns++
	}
	return []byte(b.String())
}

func (w *teller) user(b *strings.Builder) {
	text := w.words(30)
	if w.rng.IntN(3) == 0 {
		text += fmt.Sprintf("\n##keepit0.%d0## %s\n##/keepit##", 1+w.rng.IntN(9), w.words(12))
	}
	w.record(b, map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": text}})
}

func (w *teller) assistant(b *strings.Builder) {
	w.says(b, map[string]any{"type": "text", "text": w.words(60)})
}

func (w *teller) tool(b *strings.Builder) {
	id := fmt.Sprintf("toolu_%016x", w.rng.Uint64())
	w.says(b, map[string]any{"type": "tool_use", "id": id, "name": "Bash", "input": map[string]any{"command": "go test ./" + w.words(1)}})
	out := strings.Repeat(w.words(20)+"\n", 1+w.rng.IntN(40))
	w.record(b, map[string]any{
		"type":          "user",
		"message":       map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": id, "content": out}}},
		"toolUseResult": map[string]any{"stdout": out, "stderr": "", "interrupted": false},
	})
}

func (w *teller) says(b *strings.Builder, block map[string]any) {
	w.record(b, map[string]any{"type": "assistant", "requestId": "req_1", "message": map[string]any{
		"id": fmt.Sprintf("msg_%016x", w.rng.Uint64()), "type": "message", "role": "assistant", "model": "claude-opus-4-6",
		"content": []any{block}, "usage": map[string]any{"input_tokens": 3, "output_tokens": 40, "cache_read_input_tokens": 100 * w.turns},
	}})
}

// record writes one line in the shape of the client's.
func (w *teller) record(b *strings.Builder, fields map[string]any) {
	uuid := fmt.Sprintf("%08x-1111-4111-a111-%012x", w.rng.Uint32(), w.rng.Uint64()>>16)
	w.now = w.now.Add(time.Duration(w.rng.IntN(5000)) * time.Millisecond)
	for k, v := range map[string]any{
		"uuid": uuid, "parentUuid": nil, "timestamp": w.now.Format("2006-01-02T15:04:05.000Z"), "sessionId": w.id,
		"cwd": w.cwd, "version": "2.1.39", "isSidechain": false, "userType": "external", "gitBranch": "main",
	} {
		fields[k] = v
	}
	if w.parent != "" {
		fields["parentUuid"] = w.parent
	}
	w.parent = uuid
	line, err := json.Marshal(fields)
	if err != nil {
		panic(err) // maps of strings and numbers always encode
	}
	b.Write(append(line, '\n'))
}

var vocabulary = strings.Fields(`the store keeps every session as it was written and a budget is a promise that holds
	retry after three attempts with a growing pause use one table per tenant migrate before deploy 결정 완료 데이터 저장
	設計を確認する 日本語 我们 使用 缓存 🙂 "quoted" back\slash <tag> & tab	end a_b.go pkg/main_test.go 0x1f`)

func (w *teller) words(n int) string {
	list := make([]string, 1+w.rng.IntN(n))
	for i := range list {
		list[i] = vocabulary[w.rng.IntN(len(vocabulary))]
	}
	return strings.Join(list, " ")
}
