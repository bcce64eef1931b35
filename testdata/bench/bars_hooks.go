package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// promptText is what the user types where nothing else is said.
const promptText = "why does the parser of the configuration file reject an empty list of servers?"

// hookProbe runs a hook of a session whose file is given, and takes its payload from a file.
func (b *bench) hookProbe(name, event, transcript string, prep func() error) (*probe, error) {
	source := "user"
	if event == "SessionStart" {
		source = "startup"
	}
	payload, err := json.Marshal(map[string]any{
		"session_id": strings.TrimSuffix(filepath.Base(transcript), ".jsonl"), "transcript_path": transcript, "cwd": "/home/dev/net",
		"hook_event_name": event, "source": source, "tool_name": "Bash", "tool_input": map[string]string{"command": "ls"},
		"prompt": promptText,
	})
	if err != nil {
		return nil, err
	}
	file := filepath.Join(b.tmp, event+".json")
	if err := os.WriteFile(file, payload, 0o600); err != nil {
		return nil, err
	}
	return &probe{name: name, in: file, prep: prep, argv: []string{b.mem, "hook", event}, env: []string{"CLAUDE_CODE_ENTRYPOINT=cli"}}, nil
}

// newSession gives every run of the hook a new session, because nothing is handed over twice in a session.
func (p *probe) newSession() *probe {
	n := 0
	p.prep = func() error {
		payload, err := os.ReadFile(p.in)
		if err != nil {
			return err
		}
		before, after := fmt.Sprintf("00000000-0000-4000-9000-%012d", n), fmt.Sprintf("00000000-0000-4000-9000-%012d", n+1)
		if n == 0 {
			before = "00000000-0000-4000-8000-000000000001"
		}
		n++
		return os.WriteFile(p.in, bytes.ReplaceAll(payload, []byte(before), []byte(after)), 0o600)
	}
	return p
}

// hookProjects empties the directory in which Claude Code would keep the sessions.
func (b *bench) hookProjects() (string, error) {
	dir := filepath.Join(b.tmp, "home", "claude", "projects", "-home-dev-net")
	return dir, b.fresh(dir)
}

// p95 returns the time that 19 of 20 runs were below, in milliseconds.
func (p *probe) p95() float64 {
	v := slices.Sorted(slices.Values(milliseconds(p.wall)))
	if len(v) == 0 {
		return 0
	}
	return v[min(len(v)-1, len(v)*95/100)]
}

// absolute makes the row "p95 of a, in milliseconds".
func absolute(bar, what, corpus string, p, hello *probe, most float64) row {
	d, least := atMost(most)
	return row{
		Bar: bar, What: what + ", p95", Corpus: corpus, Unit: "ms", Demand: d, Least: least, Value: p.p95(),
		Detail: fmt.Sprintf("p50 %.1f ms (cpu %.1f), p95 %.1f ms, %d runs, hello p50 %.1f p95 %.1f ms", p.median(), middle(milliseconds(p.cpu)), p.p95(), len(p.wall), hello.median(), hello.p95()),
	}
}

// mostMemory is how much memory a hook may take, whatever its payload.
const mostMemory = 64

// peakOf runs p once more and makes the row "memory of it".
func (b *bench) peakOf(p *probe, what string) (row, error) {
	q := *p
	q.argv, q.keep, q.wall = append([]string{b.peak}, p.argv...), true, nil
	if err := b.run(&q); err != nil {
		return row{}, err
	}
	bytes, err := strconv.ParseInt(strings.TrimSpace(string(q.stdout)), 10, 64)
	if err != nil {
		return row{}, err
	}
	d, least := atMost(mostMemory)
	return row{
		Bar: "hook", What: "memory of " + what, Corpus: "generated", Unit: "MB", Demand: d, Least: least, Value: float64(bytes) / (1 << 20),
		Detail: megabytes(bytes) + " at most, as a small process sees it",
	}, nil
}

// barHook measures what a hook costs that has nothing to do, and one that captures.
func (b *bench) barHook() ([]row, error) {
	rows, err := b.toolUse()
	if err != nil {
		return rows, err
	}
	for _, s := range []struct{ mb, most float64 }{{20, 50}, {70, 120}} {
		r, err := b.stopHook(int64(s.mb*1e6), s.most)
		rows = append(rows, r...)
		if err != nil {
			return rows, err
		}
	}
	return rows, nil
}

func (b *bench) toolUse() ([]row, error) {
	dir, err := b.hookProjects()
	if err != nil {
		return nil, err
	}
	if err := b.initStore(); err != nil {
		return nil, err
	}
	if err := b.once(b.mem, "config", "set", "hooks.every", "999"); err != nil {
		return nil, err
	}
	tool, err := b.hookProbe("PostToolUse", "PostToolUse", filepath.Join(dir, "00000000-0000-4000-8000-000000000001.jsonl"), nil)
	if err != nil {
		return nil, err
	}
	if err := b.run(tool); err != nil { // makes the count
		return nil, err
	}
	tool.wall, tool.cpu = nil, nil
	hello := &probe{name: "hello", argv: []string{b.hello}}
	version := &probe{name: "mem version", argv: []string{b.mem, "version"}}
	if err := b.repeat(12, hello, version, tool); err != nil {
		return nil, err
	}
	most, least := atMost(3.5)
	rows := []row{ratio("hook", "`mem version` / Go hello-world", "", version, hello, most, least)}
	most, least = atMost(1.25)
	r := ratio("hook", "PostToolUse with no capture due / `mem version`", "", tool, version, most, least)
	r.Detail += fmt.Sprintf("; p95 %.1f, %.1f, hello %.1f ms", tool.p95(), version.p95(), hello.p95())
	return append(rows, r), nil
}

// stopHook lets Stop capture a tail of 200 KB of a session of a size.
func (b *bench) stopHook(size int64, most float64) ([]row, error) {
	const tail, times = 200_000, 20
	c, err := b.generated(size+tail*(times+1), 1)
	if err != nil {
		return nil, err
	}
	dir, err := b.hookProjects()
	if err != nil {
		return nil, err
	}
	if err := b.initStore(); err != nil {
		return nil, err
	}
	all, err := os.ReadFile(c.files[0])
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, filepath.Base(c.files[0]))
	end := len(all) - tail*(times+1)
	from := 0
	grow := func() error { // as Claude Code writes it
		end = min(end+tail, len(all))
		end = bytes.LastIndexByte(all[:end], '\n') + 1
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			return err
		}
		_, err = f.Write(all[from:end])
		from = end
		return errors.Join(err, f.Close())
	}
	stop, err := b.hookProbe("Stop", "Stop", file, grow)
	if err != nil {
		return nil, err
	}
	if err := grow(); err != nil {
		return nil, err
	}
	if err := b.once(b.mem, "add", file); err != nil { // the session as it was
		return nil, err
	}
	hello := &probe{name: "hello", argv: []string{b.hello}}
	for range times {
		if err := b.round(hello, stop); err != nil {
			return nil, err
		}
	}
	what := fmt.Sprintf("Stop with a tail of 200 KB on a transcript of %d MB", size/1e6)
	if _, err := os.Stat(filepath.Join(b.store(), "cache", "hooks.log")); err == nil {
		what += " (hooks.log is not empty)"
	}
	peak, err := b.peakOf(stop, what)
	return []row{absolute("hook", what, "generated", stop, hello, most), peak}, err
}

// barSession measures SessionStart with few and with many sessions in memory.
func (b *bench) barSession() ([]row, error) {
	var rows []row
	for _, n := range []int{10, 1000} {
		c, err := b.generated(int64(n)*80_000, n)
		if err != nil {
			return nil, err
		}
		dir, err := b.hookProjects()
		if err != nil {
			return nil, err
		}
		for _, f := range c.files {
			file := filepath.Join(filepath.Dir(dir), filepath.Base(filepath.Dir(f)), filepath.Base(f))
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				return nil, err
			}
			if err := copyFile(file, f, -1); err != nil {
				return nil, err
			}
		}
		if err := b.initStore(); err != nil {
			return nil, err
		}
		if err := b.once(b.mem, "import", filepath.Dir(dir)); err != nil { // as a user does who begins
			return nil, err
		}
		start, err := b.hookProbe("SessionStart", "SessionStart", filepath.Join(dir, "00000000-0000-4000-8000-000000000001.jsonl"), nil)
		if err != nil {
			return nil, err
		}
		start.newSession().keep = true
		hello := &probe{name: "hello", argv: []string{b.hello}}
		if err := b.repeat(5, hello, start); err != nil {
			return nil, err
		}
		what := fmt.Sprintf("SessionStart with %d sessions in memory", n)
		if !bytes.Contains(start.stdout, []byte("<mem-context")) {
			return nil, fmt.Errorf("%s says %q", what, start.stdout)
		}
		rows = append(rows, absolute("session", what, "generated", start, hello, 60))
	}
	return rows, nil
}

// barStorm starts a thousand hooks at once.
func (b *bench) barStorm() ([]row, error) {
	const many = 1000
	dir, err := b.hookProjects()
	if err != nil {
		return nil, err
	}
	if err := b.initStore(); err != nil {
		return nil, err
	}
	c, err := b.generated(100_000, 1)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, filepath.Base(c.files[0]))
	if err := copyFile(file, c.files[0], -1); err != nil {
		return nil, err
	}
	stop, err := b.hookProbe("Stop", "Stop", file, nil)
	if err != nil {
		return nil, err
	}
	base := filepath.Join(b.tmp, "synced")
	if err := b.fresh(base); err != nil {
		return nil, err
	}
	var hooks, synced []time.Duration
	for range min(b.runs, 3) {
		d, err := b.storm(many, []string{b.self, "worker", "sync", base}, "")
		if err != nil {
			return nil, err
		}
		synced = append(synced, d)
		if d, err = b.storm(many, stop.argv, stop.in); err != nil {
			return nil, err
		}
		hooks = append(hooks, d)
	}
	if err := b.once(b.mem, "hook", "work"); err != nil {
		return nil, err
	}
	out, err := b.output(b.mem, "ls", "--all-projects")
	if err != nil {
		return nil, err
	}
	if n := bytes.Count(out, []byte("stored")); n != 1 {
		return nil, fmt.Errorf("after the storm memory holds %d sessions: %s", n, out)
	}
	h, s := middle(milliseconds(hooks)), middle(milliseconds(synced))
	d, least := atMost(1.5)
	return []row{{Bar: "storm", What: fmt.Sprintf("%d Stop hooks at once / a program that starts like `mem version` and fsyncs a file", many), Unit: "x",
		Demand: d, Least: least, Value: h / s, Detail: fmt.Sprintf("%.0f ms, %.0f ms", h, s)}}, nil
}

// storm starts a command many times at once and waits for all of them.
func (b *bench) storm(n int, argv []string, in string) (time.Duration, error) {
	all := make([]*exec.Cmd, n)
	start := time.Now()
	for i := range all {
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir, cmd.Env = b.tmp, b.environ()
		if in != "" {
			f, err := os.Open(in)
			if err != nil {
				return 0, err
			}
			defer f.Close()
			cmd.Stdin = f
		}
		if err := cmd.Start(); err != nil {
			return 0, err
		}
		all[i] = cmd
	}
	for _, cmd := range all {
		if err := cmd.Wait(); err != nil {
			return 0, err
		}
	}
	return time.Since(start), nil
}
