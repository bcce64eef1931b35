package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/cli"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/search"
)

type suggestOptions struct {
	files  []string
	topics []string
	budget int
	number int
}

// suggestCommand is the command that names the sessions that fit a task.
func (e *Env) suggestCommand() *cli.Command {
	o := suggestOptions{budget: 8000, number: 5}
	return &cli.Command{
		Name:      "suggest",
		Usage:     "suggest sessions and versions for a task",
		ArgsUsage: "[<words>...]",
		Description: "Lists the sessions that had to do with the files and topics, and of each what fits the budget: the original, a version,\n" +
			"or a new version of so many tokens. Without files and topics it lists the newest. The list can be composed:\n" +
			"mem suggest --topic retries | mem compose NAME -",
		Flags: []*cli.Flag{
			cli.Repeated(&o.files, "files,file", "the task is about `FILE`: a name, the end of a path, or a pattern; repeat or separate by commas"),
			cli.Repeated(&o.topics, "topic", "the task is about `WORDS`; repeat for several topics"),
			cli.Parsed(&o.budget, "budget", "suggest at most `T` tokens in all, such as 8k (the default)", parseTokens),
			cli.Int(&o.number, "number,n", "suggest at most `N` sessions"),
		},
		Action: func(ctx context.Context, c *cli.Command) error {
			if o.number < 1 {
				return usagef("option --number cannot be %d: want a whole number from 1", o.number)
			}
			if words := strings.TrimSpace(strings.Join(e.operands, " ")); words != "" {
				o.topics = append(o.topics, words)
			}
			return e.runSuggest(ctx, o)
		},
	}
}

// A suggestAnswer is a suggestion in the words of the seeds.
type suggestAnswer struct {
	Rev     string   `json:"rev"`
	Session string   `json:"sessionId"`
	Version string   `json:"versionId"`
	Score   float64  `json:"relevanceScore"`
	Topics  []string `json:"matchedTopics"`
	Files   []string `json:"matchedFiles"`
	Tokens  int      `json:"suggestedTokens"`
	Title   string   `json:"title"`
	Project string   `json:"project"`
}

func (e *Env) runSuggest(ctx context.Context, o suggestOptions) error {
	var files []string
	for _, f := range o.files {
		for name := range strings.SplitSeq(f, ",") {
			if name = strings.TrimSpace(name); name != "" {
				files = append(files, name)
			}
		}
	}
	return e.withStore(func(m *layers.Memory) error {
		projects, err := e.searchScope(ctx, m)
		if err != nil {
			return err
		}
		all, err := m.Search().Suggest(ctx, search.SuggestRequest{Projects: projects, Files: files, Topics: o.topics, Budget: o.budget, Limit: o.number})
		if err != nil {
			return err
		}
		if e.opt.json {
			return e.suggestJSON(all)
		}
		if len(all) == 0 {
			e.note("no session fits")
			return exit(exitNo)
		}
		t := e.table(column{name: "revision"}, column{name: "score"}, column{name: "version"}, column{name: "tokens", right: true},
			column{name: "topics", most: 24}, column{name: "files", most: 32}, column{name: "title", shrinks: true})
		for _, x := range all {
			t.row(cell{full: x.Rev}, cell{full: strconv.FormatFloat(x.Score, 'f', 2, 64)}, cell{full: x.Version}, cell{full: strconv.Itoa(x.Tokens)},
				cell{full: strings.Join(x.Topics, ", ")}, cell{full: strings.Join(x.Files, ", ")}, cell{full: x.Session.Title})
		}
		return t.flush()
	})
}

func (e *Env) suggestJSON(all []search.Suggested) error {
	answers := []suggestAnswer{}
	for _, x := range all {
		a := suggestAnswer{x.Rev, x.Session.ID, x.Version, x.Score, x.Topics, x.Files, x.Tokens, x.Session.Title, x.Project}
		if a.Topics == nil {
			a.Topics = []string{}
		}
		if a.Files == nil {
			a.Files = []string{}
		}
		answers = append(answers, a)
	}
	return e.printJSON("suggest", struct {
		Suggestions []suggestAnswer `json:"suggestions"`
	}{answers})
}

// fromInput replaces the operand "-" by the revisions on standard input: the first word of each line, as mem suggest prints them.
func (e *Env) fromInput(operands []string) (out []string, err error) {
	for _, s := range operands {
		if s != "-" {
			out = append(out, s)
			continue
		}
		in := bufio.NewScanner(io.LimitReader(e.Stdin, 1<<20))
		n := len(out)
		for in.Scan() {
			if words := strings.Fields(in.Text()); len(words) > 0 {
				out = append(out, words[0])
			}
		}
		if err := in.Err(); err != nil {
			return nil, fmt.Errorf("read the revisions: %w", err)
		}
		if len(out) == n {
			return nil, withHint(usagef("there is no revision on standard input"), "mem suggest | mem compose NAME -")
		}
	}
	return out, nil
}
