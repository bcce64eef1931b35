package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/hookcmd"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs/disk"
)

var update = flag.Bool("update", false, "write what the scripts compare with anew; read the diff")

// TestMain lets the scripts run this program, and some programs that misbehave, as processes. Each of them makes the package variables
// of the tests, so an expression of a test is compiled when it is first used.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"mem":        unhurried,
		"mem-panic":  panicInCommand,
		"mem-thread": panicInGoroutine,
		"mem-model":  fakeModel,

		"mem-hook-panic":  panicInHook,
		"mem-hook-thread": panicInHookGoroutine,
	})
}

// TestScript runs the scripts in testdata/script: the specification of the command line. Besides what
// testscript knows they may say
//
//	status N mem ...     run mem; its exit status must be N
//	json FILE            FILE holds one JSON object with a schema in front, and a newline at its end
//	b3 FILE HASH         the BLAKE3 name of FILE is HASH
//	payload ID [K=V ...] write payload.json: what Claude Code hands to a hook of the session ID
//	modelserver KIND     start a server that speaks as anthropic's or openai's does
//	gitserver DIR        serve repositories at $GITURL to the user me, whose password is s3cret; or DIR public: to everybody
//	sshserver            serve files by ssh at $SSHURL to the key in a new agent; [sshd] if that is possible
//	[root]               if it is root who runs this
//	silentserver         take requests at $SILENTURL and never answer
//	noerrors FILE        the log of hooks is empty or not there
//	await REGEXP mem ... run mem until what it prints matches: what is in the background has time to happen
//	sample               what "mem init -q" and "mem import -q $SAMPLE" do: a copy of the store that they have once made
//	torn FILE            take the last newline off FILE: it is being written
//	supported ARGS ...   answer the questions of "mem facts verify ARGS" with yes, and those about KANGAROOS with no
//	zstd FILE            compress FILE to FILE.zst and remove it
//	env MEM_NOW=...      give mem another time
func TestScript(t *testing.T) {
	t.Parallel()
	made := &sample{dir: filepath.Join(t.TempDir(), "store")}
	testscript.Run(t, testscript.Params{
		Dir:                filepath.Join("testdata", "script"),
		RequireUniqueNames: true,
		UpdateScripts:      *update,
		Setup:              setupScript,
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "sshd":
				return haveSSH(), nil
			case "root":
				return os.Getuid() == 0, nil
			case "nohup":
				return signal.Ignored(syscall.SIGHUP), nil
			}
			return false, fmt.Errorf("no condition is called %q", cond)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status": status,
			"json":   jsonFile,
			"b3":     b3,
			"sum":    addSum,
			"fill":   fill,

			"sample": made.copyTo,

			"torn": tearFile,
			"zstd": compressFile,

			"payload":     payload,
			"modelserver": modelServer,
			"gitserver":   gitServer,
			"sshserver":   sshServer,

			"silentserver": silentServer,
			"await":        await,
			"capture":      captured,
			"noerrors":     noErrors,
			"supported":    supported,
		},
	})
}

// setupScript gives a script an empty home and a fixed time.
func setupScript(env *testscript.Env) error {
	home := filepath.Join(env.WorkDir, "home")
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	env.Defer(func() {
		if _, err := os.Stat(filepath.Join(env.WorkDir, "handed-over")); err == nil {
			return // the script let others write, to see what they get
		}
		if err := checkPrivate(env.Getenv("MEM_DIR")); err != nil {
			env.T().Fatal(err)
		}
	})
	sample, err := filepath.Abs(filepath.Join("..", "..", "testdata", "transcripts"))
	if err != nil {
		return err
	}
	for _, v := range [][2]string{
		{"HOME", home}, {"USERPROFILE", home},
		{"MEM_DIR", filepath.Join(env.WorkDir, "memory")},
		{"MEM_NOW", "2026-01-20T14:00:00Z"},
		{"CLAUDE_CONFIG_DIR", filepath.Join(home, ".claude")},
		{"SAMPLE", sample}, // a configuration directory of Claude Code
		{"GIT_CONFIG_NOSYSTEM", "1"}, {"LC_ALL", "C.UTF-8"}, {"TZ", "UTC"},
		{"GOGC", "400"}, // most commands are over before they have used 16 MB: what is collected before takes an eighth of the time
	} {
		env.Setenv(v[0], v[1])
	}
	return nil
}

// checkPrivate makes sure that nobody but its owner can read or change anything of a store.
func checkPrivate(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || err == nil && path == dir && !d.IsDir() {
			return nil // the script made none, or put something else there; or a worker in the background has removed it
		}
		if err != nil || d.Type()&fs.ModeSymlink != 0 || d.Name() == "FETCH_HEAD" { // which git writes as its user's mask says
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			err = fmt.Errorf("%s has the mode %v", path, info.Mode())
		}
		return err
	})
}

// status runs a program that must end with a given exit status.
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N program args...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exited *exec.ExitError
		if !errors.As(err, &exited) {
			ts.Fatalf("run %s: %v", args[1], err)
		}
		got = exited.ExitCode()
	}
	if got != want {
		ts.Fatalf("%s: exit status %d, want %d", strings.Join(args[1:], " "), got, want)
	}
}

// fill repeats the content of a file until it has a size, in bytes; with "line" as one line.
func fill(ts *testscript.TestScript, neg bool, args []string) {
	line := len(args) == 3 && args[2] == "line"
	if neg || len(args) != 2 && !line {
		ts.Fatalf("usage: fill FILE SIZE [line]")
	}
	file := ts.MkAbs(args[0])
	size, err := strconv.Atoi(args[1])
	ts.Check(err)
	b, err := os.ReadFile(file)
	ts.Check(err)
	if line {
		b = bytes.TrimSpace(b)
	}
	if len(b) == 0 {
		ts.Fatalf("%s holds nothing to repeat", args[0])
	}
	ts.Check(os.WriteFile(file, bytes.Repeat(b, (size+len(b)-1)/len(b)), 0o600))
}

// captured sets a variable to what the group of a pattern matches in the last output.
func captured(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: capture NAME REGEXP")
	}
	re, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	found := re.FindStringSubmatch(ts.ReadFile("stdout"))
	if len(found) != 2 {
		ts.Fatalf("no match for %q with one group in the last output", args[1])
	}
	ts.Setenv(args[0], found[1])
}

// await runs a program until its output matches.
func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: await REGEXP program args...")
	}
	want, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		err := ts.Exec(args[1], args[2:]...)
		if err == nil && want.MatchString(ts.ReadFile("stdout")) {
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("%s: never printed %q: %v", strings.Join(args[1:], " "), args[0], err)
		}
	}
}

// noErrors looks that the log of hooks is not there: it shows what it says.
func noErrors(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: noerrors FILE")
	}
	b, err := os.ReadFile(ts.MkAbs(args[0]))
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	ts.Check(err)
	if len(b) > 0 {
		ts.Fatalf("%s: %s", args[0], b)
	}
}

// jsonFile checks the outer form of an answer.
func jsonFile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: json FILE")
	}
	text := ts.ReadFile(args[0])
	ts.Check(checkAnswer(text))
}

func checkAnswer(text string) error {
	if !strings.HasPrefix(text, `{"schema":"mem.`) || strings.Count(text, "\n") != 1 || !strings.HasSuffix(text, "}\n") {
		return fmt.Errorf("not one line with a schema in front: %q", text)
	}
	var v map[string]any
	dec := json.NewDecoder(strings.NewReader(text))
	if err := dec.Decode(&v); err != nil {
		return err
	}
	if dec.More() {
		return fmt.Errorf("more than one value: %q", text)
	}
	return nil
}

// b3 compares the name of a file with a hash.
func b3(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: b3 FILE HASH")
	}
	b, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	if got := objects.Sum(b).String(); (got == args[1]) == neg {
		ts.Fatalf("%s is %s", args[0], got)
	}
}

// addSum adds the checksum to a control file.
func addSum(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: sum FILE")
	}
	b, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), disk.WithSum(b), 0o600))
}

// A sample is a store with the sessions of $SAMPLE. What is imported is the same in each script, and takes longer than a copy.
type sample struct {
	dir    string
	making sync.Mutex
	now    string // $MEM_NOW when it was made
}

// copyTo makes the store of a script. The first one makes it with mem, and all others get a copy.
func (s *sample) copyTo(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: sample")
	}
	s.making.Lock()
	defer s.making.Unlock()
	from, to := s.dir, ts.Getenv("MEM_DIR")
	_, none := exec.LookPath("cp") // which keeps the permissions
	if _, err := os.Stat(s.dir); err != nil || none != nil {
		ts.Check(ts.Exec("mem", "init", "-q"))
		ts.Check(ts.Exec("mem", "import", "-q", ts.Getenv("SAMPLE")))
		from, to, s.now = to, from, ts.Getenv("MEM_NOW")
	}
	if none != nil {
		return
	}
	if ts.Getenv("MEM_NOW") != s.now {
		ts.Fatalf("the sample is of %s: use mem init and mem import", s.now)
	}
	if out, err := exec.Command("cp", "-Rp", from, to).CombinedOutput(); err != nil {
		ts.Fatalf("copy %s to %s: %v: %s", from, to, err, out)
	}
}

// tearFile takes the last newline off a file.
func tearFile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: torn FILE")
	}
	file := ts.MkAbs(args[0])
	ts.Check(os.WriteFile(file, []byte(strings.TrimSuffix(ts.ReadFile(file), "\n")), 0o600))
}

// compressFile compresses a file with zstd and removes it.
func compressFile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: zstd FILE")
	}
	file := ts.MkAbs(args[0])
	w, err := zstd.NewWriter(nil)
	ts.Check(err)
	ts.Check(os.WriteFile(file+".zst", w.EncodeAll([]byte(ts.ReadFile(file)), nil), 0o600))
	ts.Check(os.Remove(file))
}

// payload writes what Claude Code hands to a hook.
func payload(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: payload ID [KEY=VALUE ...]")
	}
	fields := map[string]any{
		"session_id": args[0], "cwd": "/w", "hook_event_name": "Any", "tool_input": map[string]any{"command": "ls"},
		"transcript_path": filepath.Join(ts.Getenv("CLAUDE_CONFIG_DIR"), "projects", "-w", args[0]+".jsonl"),
	}
	for _, kv := range args[1:] {
		key, value, _ := strings.Cut(kv, "=")
		fields[key] = value
		if value == "true" || strings.HasPrefix(value, "{") {
			fields[key] = json.RawMessage(value)
		}
	}
	b, err := json.Marshal(fields)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs("payload.json"), b, 0o600))
}

// supported answers the questions about facts: yes, but no about kangaroos.
func supported(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("usage: supported [ARGS ...]")
	}
	ts.Check(ts.Exec("mem", append([]string{"facts", "verify", "--json", "--tokens", "1000k"}, args...)...))
	var asked struct{ Questions []struct{ ID, Text string } }
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &asked))
	list := []map[string]string{}
	for _, q := range asked.Questions {
		answer := "supported"
		if strings.Contains(q.Text, "kangaroos") {
			answer = "not"
		}
		list = append(list, map[string]string{"id": q.ID, "answer": answer})
	}
	b, err := json.Marshal(map[string]any{"answers": list})
	ts.Check(err)
	file := ts.MkAbs("answers.json")
	ts.Check(os.WriteFile(file, b, 0o600))
	for i, arg := range args {
		if !strings.HasPrefix(arg, "-") && (i == 0 || args[i-1] != "-p") {
			args[i] = "--session=" + arg
		}
	}
	ts.Check(ts.Exec("mem", append([]string{"facts", "save", "--by", "haiku", file}, args...)...))
}

// unhurried is mem on a machine on which no hook comes to its time limit, however busy it is. The limits have tests of their own.
func unhurried() {
	env := app.OsEnv()
	env.NoTimeLimit = true
	mainIn(env)
}

// panicInCommand is a mem whose command panics.
func panicInCommand() {
	app.NeverExitTwo()
	env := app.OsEnv()
	env.Executable = func() (string, error) { panic("a \x1b[31mtest\x1b[0m") }
	os.Exit(run(context.Background(), env, append(os.Args[1:], "version", "-v")))
}

// panicInGoroutine is a mem that dies where no recover reaches.
func panicInGoroutine() {
	app.NeverExitTwo()
	go panic("in a goroutine")
	<-make(chan bool)
}

// A panicking is an input that panics when it is read: in the hook itself, or where none of its recovers reaches.
type panicking struct{ beside bool }

func (p panicking) Read([]byte) (int, error) {
	if p.beside {
		go panic("beside a secret")
		<-make(chan bool)
	}
	panic("a secret")
}

// panicInHook is a mem whose hook panics.
func panicInHook() {
	app.NeverExitTwo()
	env := app.OsEnv()
	env.Stdin = panicking{}
	hookcmd.RunHook(&env, os.Args[1])
}

// panicInHookGoroutine is a mem whose hook dies where no recover reaches.
func panicInHookGoroutine() {
	app.NeverExitTwo()
	env := app.OsEnv()
	env.Stdin = panicking{beside: true}
	hookcmd.RunHook(&env, os.Args[1])
}
