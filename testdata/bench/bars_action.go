package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A shellCall is a command of a session with its end.
type shellCall struct {
	line   string
	failed bool
	usage  string // the error message, without numbers, if it is about the form of the command
}

// usageError matches messages that say that a command cannot work in this form. It is not taken from the program that is
// measured.
var usageError = regexp.MustCompile(`(?i)command not found|unknown (sub)?command|unrecogni[sz]ed (sub)?command|(unknown|unrecogni[sz]ed|invalid|unexpected|illegal) (option|flag|argument|shorthand)|` +
	`flag provided but not defined|missing script|script not found|no rule to make target|cd: .*no such file|no module named|could not find .?cargo|go\.mod file not found|not a git repository`)

// digits are no part of a message.
var digits = regexp.MustCompile(`[0-9]+`)

// An acted is a session with its commands.
type acted struct {
	file  string
	first string // time
	cwd   string
	calls []shellCall
}

// shellCalls reads the commands of a session, each line once.
func shellCalls(file string) (s acted, err error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return s, err
	}
	s.file = file
	lines := map[string]string{} // by the id of the call
	seen := map[string]bool{}
	for line := range bytes.Lines(raw) {
		var m struct {
			Timestamp, Cwd string
			Message        struct{ Content json.RawMessage }
		}
		if json.Unmarshal(line, &m) != nil {
			continue // cut off
		}
		s.first, s.cwd = cmp.Or(s.first, m.Timestamp), cmp.Or(s.cwd, m.Cwd)
		var blocks []struct {
			Type, ID, Name string
			Tool           string `json:"tool_use_id"`
			Failed         bool   `json:"is_error"`
			Input          struct{ Command string }
			Content        json.RawMessage
		}
		if json.Unmarshal(m.Message.Content, &blocks) != nil {
			continue // a text
		}
		for _, b := range blocks {
			if b.Type == "tool_use" && b.Name == "Bash" {
				lines[b.ID] = b.Input.Command
			}
			of, ok := lines[b.Tool]
			if b.Type != "tool_result" || !ok || seen[of] {
				continue
			}
			seen[of] = true
			c := shellCall{line: of, failed: b.Failed}
			text := string(b.Content)
			var plain string
			if json.Unmarshal(b.Content, &plain) == nil {
				text = plain
			}
			for i, l := range strings.Split(text, "\n") {
				if i < 8 && len(l) < 300 && usageError.MatchString(l) && (b.Failed || i < 2) {
					c.usage = strings.TrimSpace(digits.ReplaceAllString(l, ""))
					break
				}
			}
			s.calls = append(s.calls, c)
		}
	}
	return s, nil
}

// barAction replays the sessions of each project in their order: before each command of a session, does PreToolUse
// announce that it fails, and does it fail? All checkouts of a project are one directory, as for one developer.
func (b *bench) barAction() ([]row, error) {
	c, ok, err := b.real()
	if err != nil {
		return nil, err
	}
	if !ok {
		return []row{{Bar: "action", What: "commands that fail again are announced", Skip: "it needs -transcripts"}}, nil
	}
	projects := map[string][]acted{}
	for _, f := range c.files {
		s, err := shellCalls(f)
		if err != nil {
			return nil, err
		}
		if s.first != "" && s.cwd != "" {
			name := filepath.Base(filepath.Dir(f))
			projects[name] = append(projects[name], s)
		}
	}
	var t actionTally
	names := make([]string, 0, len(projects))
	for name := range projects {
		names = append(names, name)
	}
	slices.Sort(names)
	for i, name := range names {
		list := projects[name]
		slices.SortFunc(list, func(x, y acted) int { return cmp.Or(cmp.Compare(x.first, y.first), cmp.Compare(x.file, y.file)) })
		if err := b.replay(&t, fmt.Sprintf("/home/dev/p%d", i), list); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	miss := &probe{name: "a miss"}
	version := &probe{name: "mem version", argv: []string{b.mem, "version"}}
	if miss, err = b.hookProbe("PreToolUse", "PreToolUse", filepath.Join(b.tmp, "00000000-0000-4000-8000-000000000001.jsonl"), nil); err != nil {
		return nil, err
	}
	if err := b.repeat(8, version, miss); err != nil {
		return nil, err
	}
	slices.Sort(t.wall)
	again, atleast := atLeast(80)
	few, _ := atMost(1)
	fast, _ := atMost(25)
	little, _ := atMost(1.25)
	p95 := 0.0
	if n := len(t.wall); n > 0 {
		p95 = float64(t.wall[n*95/100].Microseconds()) / 1000
	}
	return []row{
		{Bar: "action", What: "commands that fail again with the same usage error, announced", Corpus: c.name, Unit: "%", Value: percent(t.announced, t.again), Demand: again, Least: atleast, Detail: fmt.Sprintf("%d of %d", t.announced, t.again)},
		{Bar: "action", What: "commands that succeed, announced", Corpus: c.name, Unit: "%", Value: percent(t.wrong, t.succeeded), Demand: few, Detail: fmt.Sprintf("%d of %d", t.wrong, t.succeeded)},
		{Bar: "action", What: "PreToolUse, p95", Corpus: c.name, Unit: "ms", Value: p95, Demand: fast, Detail: fmt.Sprintf("%d runs", len(t.wall))},
		{Bar: "action", What: "a miss against mem version", Corpus: "generated", Unit: "x", Value: miss.median() / version.median(), Demand: little, Detail: fmt.Sprintf("%.1f against %.1f ms", miss.median(), version.median())},
	}, nil
}

func percent(n, of int) float64 { return 100 * float64(n) / float64(max(1, of)) }

// An actionTally counts commands.
type actionTally struct {
	again, announced int // failed again with the same usage error
	succeeded, wrong int
	wall             []time.Duration
}

// replay replays the sessions of one project.
func (b *bench) replay(t *actionTally, cwd string, list []acted) error {
	if err := b.initStore(); err != nil {
		return err
	}
	known := map[string]bool{} // usage errors of earlier sessions
	dir := filepath.Join(b.tmp, "home", "claude", "projects", strings.ReplaceAll(cwd, "/", "-"))
	if err := b.fresh(dir); err != nil {
		return err
	}
	for k, s := range list {
		session := fmt.Sprintf("00000000-0000-4000-a000-%012d", k+1)
		if k > 0 {
			if _, err := b.event(map[string]any{"hook_event_name": "SessionStart", "source": "startup"}, session, dir, cwd); err != nil {
				return err
			}
			told := map[string]bool{}
			for _, c := range s.calls {
				before := time.Now()
				out, err := b.event(map[string]any{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": map[string]string{"command": c.line}}, session, dir, cwd)
				if err != nil {
					return err
				}
				t.wall = append(t.wall, time.Since(before))
				announced := len(out) > 0
				switch {
				case c.usage != "" && known[c.usage]:
					t.again++
					if announced || told[c.usage] {
						t.announced++
					} else if os.Getenv("BENCH_SHOW") != "" {
						fmt.Fprintf(os.Stderr, "missed: %.200q: %.100s\n", c.line, c.usage)
					}
				case !c.failed && c.usage == "":
					t.succeeded++
					if announced {
						t.wrong++
						if os.Getenv("BENCH_SHOW") != "" {
							fmt.Fprintf(os.Stderr, "wrong: %.200q: %.700s\n", c.line, out)
						}
					}
				}
				told[c.usage] = told[c.usage] || announced
			}
		}
		for _, c := range s.calls {
			if c.usage != "" {
				known[c.usage] = true
			}
		}
		raw, err := os.ReadFile(s.file)
		if err != nil {
			return err
		}
		to := filepath.Join(dir, filepath.Base(s.file))
		if err := os.WriteFile(to, bytes.ReplaceAll(raw, []byte(s.cwd), []byte(cwd)), 0o600); err != nil {
			return err
		}
		if err := b.once(b.mem, "add", "-q", to); err != nil {
			return err
		}
	}
	return nil
}

// event runs a hook and returns what it prints. Unlike [bench.run] it does not wait for the disk.
func (b *bench) event(payload map[string]any, session, dir, cwd string) ([]byte, error) {
	payload["session_id"], payload["cwd"], payload["transcript_path"] = session, cwd, filepath.Join(dir, session+".jsonl")
	in, err := json.Marshal(payload)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(b.mem, "hook", payload["hook_event_name"].(string))
	cmd.Dir, cmd.Env, cmd.Stdin = b.tmp, append(b.environ(), "CLAUDE_CODE_ENTRYPOINT=cli"), bytes.NewReader(in)
	return cmd.Output()
}
