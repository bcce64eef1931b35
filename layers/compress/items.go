package compress

import (
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/memvcs/mem/layers/compress/anchors"
	"github.com/memvcs/mem/layers/refine"
)

// Items converts the entries of an L1 to items. echo reports whether the typed text of a message is an echo, which mem
// wrote or a fork copied: it does not count as typed. It may be nil. The changed lines of edits become items
// of kind [Diff]: [Run] uses them only when there is room. Texts that are too large for memory are written to spill
// and not into the items, which [Run] and [Spill.Text] know; it may be nil.
func Items(entries iter.Seq2[refine.Entry, error], echo func(n int) bool, spill *Spill) ([]Item, error) {
	b := builder{spill: spill}
	for e, err := range entries {
		if err != nil {
			return nil, fmt.Errorf("read items: %w", err)
		}
		switch {
		case e.Prompt() && e.Said == "":
		case e.Name == "answer" && e.Prompt():
			b.dialog(e)
		case e.Prompt() && echo != nil && echo(e.N):
			b.add(Item{N: e.N, Kind: Recap, Text: e.Said})
		case e.Typed():
			if e.Request() {
				b.close()
			}
			b.add(Item{N: e.N, Kind: User, Text: e.Said})
		case e.Prompt():
			b.close()
			b.add(Item{N: e.N, Kind: Script, Text: e.Said})
		case e.Role == "user":
			b.add(Item{N: e.N, Kind: Recap, Text: e.Said})
		case e.Role == "assistant":
			b.add(Item{N: e.N, Kind: Assistant, Text: e.Said})
			if !e.Side {
				b.last = len(b.items)
			}
		case e.Role == "summary" && e.Name != "boundary":
			b.add(Item{N: e.N, Kind: Recap, Text: e.Said})
		case e.Role == "tool":
			b.tool(e)
		case e.Role == "note":
			b.add(Item{N: e.N, Kind: Call, Text: strings.TrimSpace(e.Name + " " + e.Target + " " + e.Said)})
		}
	}
	b.close()
	return b.items, nil
}

type builder struct {
	spill *Spill
	items []Item
	last  int // index behind the last words of the assistant
}

func (b *builder) add(it Item) {
	if strings.TrimSpace(it.Text) != "" || it.Kind == Edit && it.Target != "" {
		b.items = append(b.items, b.spill.KeepItem(it))
	}
}

// close marks the last words of the assistant before the user speaks again.
func (b *builder) close() {
	if b.last > 0 {
		b.items[b.last-1].Closing = true
		b.last = 0
	}
}

// dialog adds the questions of a dialog, which the model asked, and the user's answers.
func (b *builder) dialog(e refine.Entry) {
	var asked []string
	for _, a := range e.Dialog {
		asked = append(asked, a.Question)
	}
	b.add(Item{N: e.N, Kind: Assistant, Text: strings.Join(asked, "\n")})
	kind := User
	if e.Script {
		kind = Script
	}
	b.add(Item{N: e.N, Kind: kind, Text: e.Said})
}

func (b *builder) tool(e refine.Entry) {
	switch {
	case e.Diff != "" || len(e.Symbols) > 0 || edits[e.Name]:
		file, line := e.Target, 0
		if k := strings.LastIndexByte(file, ':'); k > 0 && strings.Trim(file[k+1:], "0123456789") == "" {
			line, _ = strconv.Atoi(file[k+1:]) // a number too great for a line is none
			file = file[:k]
		}
		b.add(Item{N: e.N, Kind: Edit, Target: file, Line: line, Text: strings.Join(e.Symbols, " ")})
		b.add(Item{N: e.N, Kind: Diff, Text: e.Diff})
	case e.Cmd != "":
		text := "$ " + e.Cmd
		if e.Exit != 0 {
			text = "$ " + oneLine(e.Cmd, 200) + " -> exit " + strconv.Itoa(e.Exit)
		}
		b.add(Item{N: e.N, Kind: Command, Text: text})
		for _, f := range staged(e.Cmd) {
			b.add(Item{N: e.N, Kind: Edit, Target: f})
		}
	case e.Name != "result":
		b.add(Item{N: e.N, Kind: Call, Text: strings.TrimSpace(e.Name + " " + e.Target)})
	}
	b.add(Item{N: e.N, Kind: Assistant, Text: e.Said}) // a plan
	switch {
	case e.Result == "ok", e.Result == "":
	case e.Name == "Task", e.Name == "Agent":
		b.add(Item{N: e.N, Kind: Recap, Text: e.Result})
	default:
		b.add(Item{N: e.N, Kind: Failure, Text: firstLines(e.Result, 3)})
	}
	b.add(Item{N: e.N, Kind: Failure, Text: strings.Join(e.Errors, "\n")})
}

// staged returns the files that a shell command passes to git add, mv or rm: they have changed.
func staged(cmd string) []string {
	var files []string
	for rest := cmd; ; {
		k := strings.Index(rest, "git ")
		if k < 0 {
			return files
		}
		rest = rest[k+len("git "):]
		args := rest
		if k := strings.IndexAny(args, "&|;\n<>"); k >= 0 {
			args = args[:k]
		}
		words := strings.Fields(args)
		if len(words) < 2 || words[0] != "add" && words[0] != "mv" && words[0] != "rm" {
			continue
		}
		for _, w := range words[1:] {
			if w = strings.Trim(w, `"'`); anchors.FileName(w[strings.LastIndexByte(w, '/')+1:]) &&
				!strings.ContainsAny(w, "*?$(") {
				files = append(files, w)
			}
		}
	}
}

var edits = map[string]bool{"Edit": true, "MultiEdit": true, "Write": true, "NotebookEdit": true}

func firstLines(s string, n int) string {
	for i := range len(s) {
		if s[i] == '\n' {
			if n--; n == 0 {
				return s[:i]
			}
		}
	}
	return s
}
