package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/memvcs/mem/layers/engines"
	sources "github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/projects"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/config"
)

// The exit statuses. There is no 2: Claude Code reads it as a hook's order to stop.
const (
	exitDone        = 0
	exitNo          = 1 // the answer is no: no match, a difference, problems found
	exitPartial     = 3 // some of it was done
	exitAuth        = 4 // authentication is needed
	exitBudget      = 5 // a budget or a cap cannot be met
	exitNoMemory    = 10
	exitLocked      = 11
	exitFatal       = 128
	exitUsage       = 129
	exitInterrupted = 130
)

// A coded error carries its exit status.
type coded struct {
	error
	code int
}

func (e *coded) Unwrap() error { return e.error }

// withCode gives err an exit status of its own.
func withCode(code int, err error) error { return &coded{err, code} }

// A quiet error sets the exit status and prints nothing, because the command has said it all.
type quiet struct{ code int }

func (e *quiet) Error() string { return fmt.Sprintf("exit status %d", e.code) }

// exit ends a command that has printed its answer with a status other than 0.
func exit(code int) error { return &quiet{code} }

// A hinted error tells people what to do next.
type hinted struct {
	error
	hints []string
}

func (e *hinted) Unwrap() error { return e.error }

// withHint adds what to do next to err: a command to type, or a few words.
func withHint(err error, hints ...string) error { return &hinted{err, hints} }

// An unreadable error came from opening the memory, an unwritable one from changing its files.
type (
	unreadable struct{ err error }
	unwritable struct{ err error }
)

func (e *unreadable) Error() string { return e.err.Error() }
func (e *unreadable) Unwrap() error { return e.err }

func (e *unwritable) Error() string { return e.err.Error() }
func (e *unwritable) Unwrap() error { return e.err }

func fatalf(format string, args ...any) error { return fmt.Errorf(format, args...) }

// statuses maps errors of the packages below to exit statuses. The first match holds.
func statuses() []struct {
	err  error
	code int
} {
	return []struct {
		err  error
		code int
	}{
		{errStdoutClosed, exitDone},
		{context.Canceled, exitInterrupted},
		{refs.ErrNotRepo, exitNoMemory},
		{refs.ErrLocked, exitLocked},
		{config.ErrLocked, exitLocked},
		{engines.ErrAuth, exitAuth},
		{engines.ErrCap, exitBudget},
	}
}

// statusOf returns the exit status of a command that ended with err.
func statusOf(err error) int {
	var usage *usageError
	var missing *missingValue
	var own *coded
	var silent *quiet
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &silent):
		return silent.code
	case errors.As(err, &own):
		return own.code
	case errors.As(err, &usage), errors.As(err, &missing):
		return exitUsage
	}
	for _, s := range statuses() {
		if errors.Is(err, s.err) {
			return s.code
		}
	}
	return exitFatal
}

// hintsOf returns what an error, or something it wraps, says should be done.
func hintsOf(err error) []string {
	var h *hinted
	var unknown *config.UnknownKeyError
	var value *config.ValueError
	var missing *state.NotFoundError
	var foreign *projects.ForeignError
	var unwritten *refs.WriteError
	var store *unwritable
	var unread *unreadable
	var device *refs.DeviceError
	var revoked *trust.RevokedError
	var call *url.Error
	var program *engines.ExitError
	var untrusted *trust.UntrustedError
	switch {
	case errors.As(err, &h):
		hints := slices.Clone(h.hints)
		for _, more := range hintsOf(h.error) {
			if !slices.ContainsFunc(hints, func(said string) bool { return strings.Contains(said, more) }) {
				hints = append(hints, more)
			}
		}
		return hints
	case errors.As(err, &revoked):
		return []string{shell("mem", "why", revoked.What) + "; mem revoke lists the sources, and mem revoke --undo --source SOURCE takes one back", "to write it all the same: mem checkout --force"}
	case errors.As(err, &untrusted):
		return []string{shell("mem", "device", "trust", untrusted.Device), "to write it all the same: mem checkout --force"}
	case errors.As(err, &foreign):
		return []string{shareHint(foreign)}
	case errors.As(err, &unknown):
		if near := suggest(unknown.Key, unknown.Near); len(near) > 0 {
			return []string{didYouMean("", near)}
		}
		return []string{"mem config list"}
	case errors.As(err, &value):
		return []string{"mem config unset " + value.Key}
	case errors.As(err, &missing):
		return missingHints(missing)
	case errors.Is(err, sources.ErrMeanwhile):
		return []string{"do it again: it is made of what is left then"}
	case errors.Is(err, refs.ErrNotRepo):
		return []string{"mem init"}
	case errors.As(err, &device):
		return deviceHints(device)
	case errors.Is(err, refs.ErrDamaged):
		return []string{"mem fsck --repair"}
	case errors.Is(err, refs.ErrLocked), errors.Is(err, config.ErrLocked):
		return []string{"wait longer with --lock-timeout"}
	case isFull(err):
		return []string{"free some space and do it again: what is in memory is whole"}
	case errors.Is(err, syscall.EFBIG):
		return []string{"a file may not grow so large here: see ulimit -f"}
	case (errors.As(err, &unwritten) || errors.As(err, &store)) && isReadOnly(err):
		return []string{"the memory can be read only: make it writable (chmod -R u+w), or name another with MEM_DIR"}
	case errors.As(err, &unread) && isReadOnly(err):
		return []string{"the memory is not yours to read: chown, chmod -R u+rwX, or name another with MEM_DIR"}
	case errors.Is(err, refs.ErrUnsafe):
		return []string{"mem doctor"} // it knows the line to type
	case errors.Is(err, engines.ErrAuth):
		return []string{"set the variable that holds the key, or llm.apiKeyCommand: mem help environment"}
	case errors.Is(err, engines.ErrCap):
		return []string{"mem stats --by day", "a cap is a setting: mem config list"}
	case errors.Is(err, engines.ErrTimeout):
		return []string{"mem config set llm.timeout 30m"}
	case errors.As(err, &call) && call.Op == "Post":
		return []string{"the address of the server of models is a setting: mem config get llm.baseURL"}
	case errors.As(err, &program):
		return []string{"what the engine runs is a setting: mem config list"}
	case errors.Is(err, engines.ErrRecorded):
		return []string{"replay answers only what a model was asked before, by the same settings"}
	case errors.Is(err, refs.ErrFormat):
		return []string{"install a newer mem"}
	}
	return nil
}

// deviceHints says how to go on with a memory that does not know its device.
func deviceHints(e *refs.DeviceError) []string {
	hints := []string{"put the file back from a backup, if there is one: all that was stored is there"}
	if !e.Missing {
		return append(append([]string{"mem fsck --repair"}, hints...), "else move it away and go on as a new device: mem init")
	}
	return append(hints, "else go on as a new device, beside what the old one stored: mem init")
}

// isFull reports whether a disk, or the share of it that the user may have, is full.
func isFull(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, diskQuota) }

func isReadOnly(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}

// missingHints says what may have been meant by a name that nothing has, or else what there is.
func missingHints(missing *state.NotFoundError) []string {
	switch {
	case len(missing.Guests) > 0:
		const most = 3
		return []string{"name it with its device: " + strings.Join(quoteAll(missing.Guests[:min(most, len(missing.Guests))]), ", "), "or trust the device: mem device trust"}
	case missing.What == "message":
		return []string{"its messages are " + strings.Join(missing.Candidates, ", ")}
	case strings.HasPrefix(missing.Name, "@") && len(missing.Candidates) > 0:
		return []string{"the oldest of the project is " + missing.Candidates[0]}
	case strings.HasPrefix(missing.Name, "@"):
		return []string{"the project has no sessions in memory: mem import", "see what there is with \"mem ls --all-projects\""}
	case missing.What == "known original" && len(missing.Candidates) == 0:
		return []string{"its file was never rewritten: " + shell("mem", "show", missing.Of)}
	case missing.What == "marker" && len(missing.Candidates) == 0:
		return []string{"it has none; mark a text of a message: " + shell("mem", "keepit", "add", missing.Of) + "#MESSAGE TEXT"}
	case missing.Of != "" && len(missing.Candidates) == 0:
		return []string{"it has none; make one with \"" + shell("mem", "compress", missing.Of) + "\""}
	case missing.Of != "":
		return []string{"it has " + strings.Join(missing.Candidates, ", ")}
	case len(missing.Candidates) == 0:
		return listHint(missing.What)
	}
	if near := suggest(missing.Name, missing.Candidates); len(near) > 0 && len(near) <= 3 {
		return []string{didYouMean("", near)}
	}
	const most = 8
	if n := len(missing.Candidates); n > most {
		return []string{fmt.Sprintf("there are %s and %d more", strings.Join(missing.Candidates[:most], ", "), n-most)}
	}
	return []string{"there is " + strings.Join(missing.Candidates, ", ")}
}

// listHint says how to see all things of a kind.
func listHint(what string) []string {
	list, ok := map[string]string{
		"object": "write at least four digits of its name, or see all: mem ls-objects", "commit": "mem log", "project": "mem project list",
		"composition": "mem show --manifest", "fact": "mem facts list", "concept": "mem concepts list", "rule": "mem rules list",
	}[what]
	if !ok {
		return nil
	}
	return []string{list}
}

// A problem is an error as --json prints it.
type problem struct {
	Code    int      `json:"code"`
	Message string   `json:"message"`
	Hints   []string `json:"hints"`
}

// report prints err for whoever is there to read it and returns the exit status.
func (e *Env) report(err error) int {
	code := statusOf(err)
	var silent *quiet
	if code == exitDone || errors.As(err, &silent) {
		return code
	}
	p := problem{Code: code, Message: oneLine(err.Error()), Hints: []string{}}
	if code == exitInterrupted {
		p.Message = "interrupted"
	}
	for _, h := range hintsOf(err) {
		p.Hints = append(p.Hints, oneLine(h))
	}
	e.printProblem(p)
	return code
}

func (e *Env) printProblem(p problem) {
	if e.opt.json {
		if b, err := encodeJSON("error", p); err == nil {
			_, _ = e.Stderr.Write(b) // there is nowhere left to say that stderr is broken
			return
		}
	}
	var b bytes.Buffer
	style := e.stderrStyle()
	fmt.Fprintf(&b, "%s %s\n", style.red("error:"), p.Message)
	for _, h := range p.Hints {
		if e.Getenv("MEM_ADVICE") != "0" {
			fmt.Fprintf(&b, "%s %s\n", style.yellow("hint:"), h)
		}
	}
	_, _ = e.Stderr.Write(b.Bytes()) // as above
}

// oneLine joins the lines of a message and makes it safe to print.
func oneLine(s string) string {
	return sanitizeLine(strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "; "))
}

// crashed reports a panic. A panic is a fault of mem, never of its user.
func (e *Env) crashed(p any) int {
	e.printProblem(problem{
		Code:    exitFatal,
		Message: oneLine(fmt.Sprintf("internal: %v", p)),
		Hints:   []string{"this is a fault of mem; please report it with what follows"},
	})
	if !e.opt.json {
		_, _ = io.WriteString(e.Stderr, sanitize(string(debug.Stack()))) // as above
	}
	return exitFatal
}

// encodeJSON writes v, which must encode as a JSON object, with the schema of what in front.
func encodeJSON(what string, v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode the answer: %w", err)
	}
	body, ok := bytes.CutPrefix(b.Bytes(), []byte("{"))
	if !ok {
		return nil, fmt.Errorf("encode the answer: %T is not an object", v)
	}
	head := `{"schema":"mem.` + what + `/v1"`
	if !bytes.HasPrefix(body, []byte("}")) {
		head += ","
	}
	return escapeJSON(append([]byte(head), body...)), nil
}
