package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/memvcs/mem/layers/engines"
)

// fakeModel is a program for the engine command: it answers as MODEL_MODE says. With "claude" as its first argument
// it behaves as the client does, instead.
func fakeModel() {
	if len(os.Args) > 1 && os.Args[1] == "claude" {
		fakeClient(os.Args[2:])
		return
	}
	var q engines.Question
	if err := json.NewDecoder(os.Stdin).Decode(&q); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if strings.HasPrefix(q.System, "You distil") || strings.HasPrefix(q.System, "You sort") {
		fmt.Println(distilling(q))
		return
	}
	switch os.Getenv("MODEL_MODE") {
	case "garbage":
		fmt.Println("I am sorry, I cannot do that.")
	case "invent":
		fmt.Println(`{"segments":[{"role":"user","messages":[1],"text":"The bug was in invented/file.go."}]}`)
	case "dream":
		fmt.Println(`{"segments":[{"role":"assistant","messages":[1],"text":"Everyone agreed that the moon landing was staged."}]}`)
	case "fail":
		fmt.Fprintln(os.Stderr, "out of memory")
		os.Exit(7)
	case "hang":
		time.Sleep(time.Hour)
	default:
		fmt.Println(parrot(q.Prompt))
	}
}

// distilling answers as MODEL_MODE says: with what the user typed as requests, one of them made up; or with one concept
// for all there is.
func distilling(q engines.Question) string {
	if os.Getenv("MODEL_MODE") == "garbage" {
		return "I would rather not."
	}
	type object = map[string]any
	var list []object
	for _, line := range strings.Split(q.Prompt, "\n") {
		if id, _, ok := strings.Cut(line, " "); ok && strings.HasPrefix(id, "e:") {
			list = append(list, object{"exchange": id, "concept": "", "name": "The work", "topic": "work of all sorts", "reason": "there is nothing else"})
		}
		var n int
		if _, err := fmt.Sscanf(line, "#%d user: ", &n); err != nil || strings.HasPrefix(q.System, "You sort") {
			continue
		}
		_, said, _ := strings.Cut(line, ": ")
		fact := func(text string) object {
			return object{"kind": "request", "text": text, "keywords": []string{}, "files": []string{}, "supersedes": []string{}, "refutes": []string{}, "resolves": []string{},
				"evidence": []object{{"message": n, "quote": said}}}
		}
		list = append(list, object{"messages": []int{n, n}, "summary": "", "topic": "a request", "keywords": []string{}, "files": []string{},
			"facts": []object{fact(said), fact("The user wants 4711 kangaroos.")}})
	}
	name := "exchanges"
	if strings.HasPrefix(q.System, "You sort") {
		name = "assignments"
	}
	b, err := json.Marshal(object{name: list})
	if err != nil {
		panic(err) // only strings and numbers
	}
	return string(b)
}

// parrot answers with the first three words of every message of a prompt.
func parrot(prompt string) string {
	_, rest, _ := strings.Cut(prompt, "=== record ")
	key, _, _ := strings.Cut(rest, " ")
	type segment struct {
		Role     string `json:"role"`
		Messages []int  `json:"messages"`
		Text     string `json:"text"`
	}
	var segs []segment
	lines := strings.Split(prompt, "\n")
	for i, l := range lines {
		var n int
		var role string
		if _, err := fmt.Sscanf(l, key+" %d %s", &n, &role); err != nil || i+1 == len(lines) {
			continue
		}
		if role == "recap" {
			role = "assistant"
		}
		words := strings.Fields(lines[i+1])
		segs = append(segs, segment{role, []int{n}, strings.Join(words[:min(3, len(words))], " ")})
	}
	b, err := json.Marshal(map[string]any{"segments": segs})
	if err != nil {
		panic(err) // only strings and numbers
	}
	return string(b)
}

// fakeClient is Claude Code as far as mem uses it.
func fakeClient(args []string) {
	if len(args) == 1 && args[0] == "--help" {
		fmt.Println("  -p, --print\n  --safe-mode\n  --tools <tools...>\n  --no-session-persistence\n  --output-format <format>\n  --json-schema <schema>\n  --model <model>\n  --max-budget-usd <amount>")
		return
	}
	prompt, err := io.ReadAll(os.Stdin)
	if err != nil || os.Getenv("MEM_HOOK") != "off" {
		fmt.Fprintln(os.Stderr, "the hooks of mem are on", err)
		os.Exit(1)
	}
	fmt.Printf(`{"type":"result","subtype":"success","is_error":false,"result":"","structured_output":%s,"total_cost_usd":0.25,"usage":{"input_tokens":3000,"output_tokens":200},"modelUsage":{"claude-opus-5-5":{}}}`,
		parrot(string(prompt)))
}
