// Bench measures mem from outside, as a user's shell would run it, against the tools that a user
// would otherwise take, and says of every bar the project has set itself whether it is reached.
//
//	go run ./testdata/bench [-mem BIN] [-transcripts DIR] [-runs 5] [-json] [BAR...]
//
// Machines are noisy and differ, so what counts are ratios. Both sides of a ratio come from the same
// rounds: each round runs every command once, in order, and the medians are compared. Without BAR all
// bars are measured; -list prints their names. The sessions are generated (testdata/gen); with
// -transcripts the bars that depend on content are measured on real ones too.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// A bench is one run of the program.
type bench struct {
	root        string // of the module
	tmp         string // everything is made in here
	mem         string // the binary to measure
	hello       string
	hashfile    string
	peak        string
	self        string // this program, for its workers
	transcripts string // "" for generated sessions only
	runs        int
	rules       bool // redaction is on, as users have it
	json        bool // stdout holds nothing but the object
	made        map[string]corpus
	kept        map[string]string // passages that the store has, for retention
}

// A bar is a group of rows that are measured together.
type bar struct {
	name string
	what string
	run  func(*bench) ([]row, error)
}

var bars = []bar{
	{"store", "the store alone against zstd", (*bench).barStore},
	{"add", "cold add against zstd, git and restic", (*bench).barAdd},
	{"readd", "adding again, grown and unchanged", (*bench).barReadd},
	{"import", "500 MB in 120 sessions", (*bench).barImport},
	{"redact", "recall of the rules of redaction, false findings, add and import with them", (*bench).barRedact},
	{"size", "what five growth points take on disk", (*bench).barSize},
	{"often", "what 100 adds of one session take on disk", (*bench).barOften},
	{"start", "the start of the binary", (*bench).barStart},
	{"mcp", "the start of mem mcp, and what its SDK costs the other starts", (*bench).barMCP},
	{"first", "the first read at a million objects", (*bench).barFirst},
	{"restore", "an original back to a file", (*bench).barRestore},
	{"overhead", "git bytes per add at 100,000 records", (*bench).barOverhead},
	{"lists", "log, ls and status at 1,000 sessions", (*bench).barLists},
	{"race", "eight writers with git among the readers", (*bench).barRace},
	{"compress", "compress of 1, 5 and 20 MB", (*bench).barCompress},
	{"retention", "what compressions of real sessions keep", (*bench).barRetention},
	{"refine", "L1 on one core", (*bench).barRefine},
	{"hook", "hooks of tools and of Stop", (*bench).barHook},
	{"session", "SessionStart", (*bench).barSession},
	{"action", "PreToolUse on real sessions", (*bench).barAction},
	{"prompt", "UserPromptSubmit at 200 MB of sessions", (*bench).barPrompt},
	{"search", "the search index of 193 MB of sessions, and queries", (*bench).barSearch},
	{"storm", "a thousand hooks at once", (*bench).barStorm},
	{"memory", "peak memory of the commands", (*bench).barMemory},
	{"web", "pages of mem serve, on real sessions and on 10,000", (*bench).barWeb},
	{"travel", "push and clone of 500 MB against git", (*bench).barTravel},
}

func main() {
	if len(os.Args) > 2 && os.Args[1] == "worker" {
		exit(work(os.Args[2], os.Args[3:]))
	}
	var b bench
	flag.StringVar(&b.mem, "mem", "", "measure this `binary` instead of building one")
	flag.StringVar(&b.transcripts, "transcripts", "", "measure on the real sessions in this `directory` too")
	flag.BoolVar(&b.rules, "rules", false, "measure with the rules of redaction; the other tools have none, so without them by default")
	flag.IntVar(&b.runs, "runs", 5, "rounds per bar")
	tmp := flag.String("tmp", "", "work in a new directory in this `directory`")
	asJSON := flag.Bool("json", false, "print one JSON object")
	list := flag.Bool("list", false, "print the names of the bars")
	flag.Parse()
	if *list {
		for _, bar := range bars {
			fmt.Printf("%-10s %s\n", bar.name, bar.what)
		}
		return
	}
	b.json = *asJSON
	exit(b.main(*tmp, *asJSON, flag.Args()))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func (b *bench) main(tmp string, asJSON bool, names []string) (err error) {
	chosen, err := choose(names)
	if err != nil {
		return err
	}
	if b.tmp, err = os.MkdirTemp(tmp, "mem-bench-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.tmp)) }()
	var mu sync.Mutex
	var rows []row
	stopped := make(chan os.Signal, 1)
	signal.Notify(stopped, os.Interrupt, syscall.SIGTERM)
	go func(dir string) {
		<-stopped
		mu.Lock() // what was measured is not thrown away
		if err := report(os.Stdout, rows, b.runs, b.command(names), asJSON); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
		}
		os.RemoveAll(dir) // what a child still writes may stay
		os.Exit(130)
	}(b.tmp)
	if b.tmp, err = filepath.EvalSymlinks(b.tmp); err != nil {
		return err
	}
	if err := b.build(); err != nil {
		return err
	}
	for _, bar := range chosen {
		fmt.Fprintf(os.Stderr, "bench: %s: %s\n", bar.name, bar.what)
		got, err := bar.run(b)
		if err != nil { // the other bars are still worth measuring
			got = append(got, row{Bar: bar.name, What: bar.what, Skip: tail(err.Error())})
			fmt.Fprintf(os.Stderr, "bench: SKIPPED %s: %v\n", bar.name, err)
		}
		mu.Lock()
		rows = append(rows, got...)
		mu.Unlock()
	}
	if err := report(os.Stdout, rows, b.runs, b.command(names), asJSON); err != nil {
		return err
	}
	missed := slices.DeleteFunc(rows, row.ok)
	if len(missed) > 0 {
		return fmt.Errorf("%d of the bars are missed or skipped", len(missed))
	}
	return nil
}

func choose(names []string) ([]bar, error) {
	if len(names) == 0 {
		return bars, nil
	}
	var chosen []bar
	for _, name := range names {
		i := slices.IndexFunc(bars, func(b bar) bool { return b.name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no bar %q; -list prints them", name)
		}
		chosen = append(chosen, bars[i])
	}
	return chosen, nil
}

// command returns what the user would type to get the same table.
func (b *bench) command(names []string) string {
	argv := []string{"go run ./testdata/bench"}
	if b.transcripts != "" {
		argv = append(argv, "-transcripts DIR")
	}
	if b.rules {
		argv = append(argv, "-rules")
	}
	if b.runs != 5 {
		argv = append(argv, fmt.Sprintf("-runs %d", b.runs))
	}
	return strings.Join(append(argv, names...), " ")
}

// build makes the binaries to run, all with the same flags.
func (b *bench) build() (err error) {
	if b.self, err = os.Executable(); err != nil {
		return err
	}
	mod, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return fmt.Errorf("go env GOMOD: %w", err)
	}
	b.root = filepath.Dir(strings.TrimSpace(string(mod)))
	b.hello, b.hashfile, b.peak = filepath.Join(b.tmp, "hello"), filepath.Join(b.tmp, "hashfile"), filepath.Join(b.tmp, "peak")
	todo := map[string]string{b.hello: "testdata/bench/hello", b.hashfile: "testdata/bench/hashfile", b.peak: "testdata/bench/peak"}
	if b.mem == "" {
		b.mem = filepath.Join(b.tmp, "mem")
		todo[b.mem] = "cmd/mem"
	}
	if b.mem, err = filepath.Abs(b.mem); err != nil {
		return err
	}
	for bin, pkg := range todo {
		if err := compile(bin, pkg); err != nil {
			return err
		}
	}
	return os.MkdirAll(filepath.Join(b.tmp, "home"), 0o700)
}

// compile builds a program.
func compile(bin, pkg string, flags ...string) error {
	built := bin + ".built"
	args := append([]string{"build", "-trimpath", "-ldflags", "-s -w", "-o", built}, flags...)
	cmd := exec.Command("go", append(args, module+"/"+pkg)...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", pkg, err, tail(string(out)))
	}
	// Installed programs were copied or read from the disk once. What the linker wrote lies in memory in small pieces, each
	// of which costs a start of its own.
	return errors.Join(copyFile(bin, built, -1), os.Chmod(bin, 0o755), os.Remove(built))
}

const module = "github.com/memvcs/mem"

// environ is what every measured command gets: nothing of the user's own configuration.
func (b *bench) environ() []string {
	home := filepath.Join(b.tmp, "home")
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + b.tmp, "LC_ALL=C", "TZ=UTC", "NO_COLOR=1",
		"CLAUDE_CONFIG_DIR=" + filepath.Join(home, "claude"), "MEM_DIR=" + b.store(),
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=bench", "GIT_AUTHOR_EMAIL=bench@localhost",
		"GIT_COMMITTER_NAME=bench", "GIT_COMMITTER_EMAIL=bench@localhost",
		"RESTIC_PASSWORD=bench", "RESTIC_CACHE_DIR=" + filepath.Join(b.tmp, "restic-cache"),
		"RESTIC_REPOSITORY=" + filepath.Join(b.tmp, "restic"),
	}
}

// store is where mem keeps its memory during the benchmark.
func (b *bench) store() string { return filepath.Join(b.tmp, "store") }
