package main_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"
)

// A Generator generates a transcript in the format of Claude Code: the same seed gives the same bytes.
type Generator struct {
	random
	ID     string // the session id
	Cwd    string
	Turns  int    // records so far; the first one is a message of the user
	Mark   string // a word in every message of the user
	parent string
	now    time.Time
}

// NewGenerator returns a generator of session number n.
func NewGenerator(n uint64, cwd string) *Generator {
	w := &Generator{random: random(n*0x9e3779b9 + 7), Cwd: cwd, now: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)}
	w.ID = fmt.Sprintf("%08x-0000-4000-a000-%012x", uint32(w.next()), n)
	return w
}

// More returns about n more records.
func (w *Generator) More(n int) []byte {
	var b strings.Builder
	for range n {
		switch k := w.IntN(10); {
		case w.Turns == 0 || k == 0:
			w.user(&b)
		case k < 4:
			w.assistant(&b)
		default:
			w.tool(&b)
		}
		w.Turns++
	}
	return []byte(b.String())
}

func (w *Generator) user(b *strings.Builder) {
	text := w.Words(30)
	if w.Mark != "" {
		text += " " + w.Mark
	}
	if w.IntN(3) == 0 {
		text += fmt.Sprintf("\n##keepit0.%d0## %s\n##/keepit##", 1+w.IntN(9), w.Words(12))
	}
	w.Record(b, map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": text}})
}

func (w *Generator) assistant(b *strings.Builder) {
	w.reply(b, map[string]any{"type": "text", "text": w.Words(60)})
}

func (w *Generator) tool(b *strings.Builder) {
	id := fmt.Sprintf("toolu_%016x", w.next())
	w.reply(b, map[string]any{"type": "tool_use", "id": id, "name": "Bash",
		"input": map[string]any{"command": "go test ./" + w.Words(1)}})
	out := strings.Repeat(w.Words(20)+"\n", 1+w.IntN(40))
	w.Record(b, map[string]any{
		"type": "user",
		"message": map[string]any{"role": "user",
			"content": []any{map[string]any{"type": "tool_result", "tool_use_id": id, "content": out}}},
		"toolUseResult": map[string]any{"stdout": out, "stderr": "", "interrupted": false},
	})
}

func (w *Generator) reply(b *strings.Builder, block map[string]any) {
	w.Record(b, map[string]any{"type": "assistant", "requestId": "req_1", "message": map[string]any{
		"id": fmt.Sprintf("msg_%016x", w.next()), "type": "message", "role": "assistant", "model": "claude-opus-4-6",
		"content": []any{block}, "usage": map[string]any{"input_tokens": 3, "output_tokens": 40,
			"cache_read_input_tokens": 100 * w.Turns},
	}})
}

// Record writes one line in the format of the client.
func (w *Generator) Record(b *strings.Builder, fields map[string]any) {
	uuid := fmt.Sprintf("%08x-1111-4111-a111-%012x", uint32(w.next()), w.next()>>16)
	w.now = w.now.Add(time.Duration(w.IntN(5000)) * time.Millisecond)
	for k, v := range map[string]any{
		"uuid": uuid, "parentUuid": nil, "timestamp": w.now.Format("2006-01-02T15:04:05.000Z"), "sessionId": w.ID,
		"cwd": w.Cwd, "version": "2.1.39", "isSidechain": false, "userType": "external", "gitBranch": "main",
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

var vocabulary = sync.OnceValue(func() []string {
	return strings.Fields(`the store keeps every session as it was written and a budget is a promise that holds
	retry after three attempts with a growing pause use one table per tenant migrate before deploy 결정 완료 데이터 저장
	設計を確認する 日本語 我们 使用 缓存 🙂 "quoted" back\slash <tag> & tab	end a_b.go pkg/main_test.go 0x1f`)
})

// Words returns up to n words.
func (w *Generator) Words(n int) string {
	words := vocabulary()
	list := make([]string, 1+w.IntN(n))
	for i := range list {
		list[i] = words[w.IntN(len(words))]
	}
	return strings.Join(list, " ")
}
