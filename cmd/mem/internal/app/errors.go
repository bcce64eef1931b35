package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"slices"
	"strings"
	"syscall"

	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/engines"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/projects"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/config"
)

// The exit statuses. There is no 2: Claude Code reads it as a hook's order to stop.
const (
	ExitDone        = 0
	ExitNo          = 1 // the answer is no: no match, a difference, problems found
	ExitPartial     = 3 // some of it was done
	ExitAuth        = 4 // authentication is needed
	ExitBudget      = 5 // a budget or a cap cannot be met
	exitNoMemory    = 10
	exitLocked      = 11
	ExitFatal       = 128
	ExitUsage       = 129
	ExitInterrupted = 130
)

// A coded error carries its exit status.
type coded struct {
	error
	code int
}

func (e *coded) Unwrap() error { return e.error }

// WithCode gives err an exit status of its own.
func WithCode(code int, err error) error { return &coded{err, code} }

// A quiet error sets the exit status and prints nothing, because the command has said it all.
type Quiet struct{ code int }

func (e *Quiet) Error() string { return fmt.Sprintf("exit status %d", e.code) }

// Exit ends a command that has printed its answer with a status other than 0.
func Exit(code int) error { return &Quiet{code} }

// A hinted error tells people what to do next.
type hinted struct {
	error
	hints []string
}

func (e *hinted) Unwrap() error { return e.error }

// WithHint adds what to do next to err: a command to type, or a few words.
func WithHint(err error, hints ...string) error { return &hinted{err, hints} }

// An unreadable error came from opening the memory, an unwritable one from changing its files.
type (
	Unreadable struct{ Err error }
	Unwritable struct{ Err error }
)

func (e *Unreadable) Error() string { return e.Err.Error() }
func (e *Unreadable) Unwrap() error { return e.Err }

func (e *Unwritable) Error() string { return e.Err.Error() }
func (e *Unwritable) Unwrap() error { return e.Err }

func Fatalf(format string, args ...any) error { return fmt.Errorf(format, args...) }

// statuses maps errors of the packages below to exit statuses. The first match holds.
func statuses() []struct {
	err  error
	code int
} {
	return []struct {
		err  error
		code int
	}{
		{ErrStdoutClosed, ExitDone},
		{context.Canceled, ExitInterrupted},
		{refs.ErrNotRepo, exitNoMemory},
		{refs.ErrLocked, exitLocked},
		{config.ErrLocked, exitLocked},
		{engines.ErrAuth, ExitAuth},
		{engines.ErrCap, ExitBudget},
	}
}

// StatusOf returns the exit status of a command that ended with err.
func StatusOf(err error) int {
	var usage *usageError
	var missing *MissingValue
	var own *coded
	var silent *Quiet
	switch {
	case err == nil:
		return ExitDone
	case errors.As(err, &silent):
		return silent.code
	case errors.As(err, &own):
		return own.code
	case errors.As(err, &usage), errors.As(err, &missing):
		return ExitUsage
	}
	for _, s := range statuses() {
		if errors.Is(err, s.err) {
			return s.code
		}
	}
	return ExitFatal
}

// HintsOf returns what an error, or something it wraps, says should be done.
func HintsOf(err error) []string {
	var h *hinted
	var unknown *config.UnknownKeyError
	var value *config.ValueError
	var missing *state.NotFoundError
	var foreign *projects.ForeignError
	var revoked *trust.RevokedError
	var untrusted *trust.UntrustedError
	switch {
	case errors.As(err, &h):
		hints := slices.Clone(h.hints)
		for _, more := range HintsOf(h.error) {
			if !slices.ContainsFunc(hints, func(said string) bool { return strings.Contains(said, more) }) {
				hints = append(hints, more)
			}
		}
		return hints
	case errors.As(err, &revoked):
		return []string{term.Shell("mem", "why", revoked.What) +
			"; mem revoke lists the sources, and mem revoke --undo --source SOURCE takes one back",
			"to write it all the same: mem checkout --force"}
	case errors.As(err, &untrusted):
		return []string{term.Shell("mem", "device", "trust", untrusted.Device),
			"to write it all the same: mem checkout --force"}
	case errors.As(err, &foreign):
		return []string{ShareHint(foreign)}
	case errors.As(err, &unknown):
		if near := term.Suggest(unknown.Key, unknown.Near); len(near) > 0 {
			return []string{DidYouMean("", near)}
		}
		return []string{"mem config list"}
	case errors.As(err, &value):
		return []string{"mem config unset " + value.Key}
	case errors.As(err, &missing):
		return MissingHints(missing)
	case errors.Is(err, originals.ErrMeanwhile):
		return []string{"do it again: it is made of what is left then"}
	}
	if hints := storeHints(err); hints != nil {
		return hints
	}
	return engineHints(err)
}

// storeHints returns what can be done about an error of the store.
func storeHints(err error) []string {
	var unwritten *refs.WriteError
	var store *Unwritable
	var unread *Unreadable
	var device *refs.DeviceError
	switch {
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
	case (errors.As(err, &unwritten) || errors.As(err, &store)) && IsReadOnly(err):
		return []string{"the memory can be read only: make it writable (chmod -R u+w), or name another with MEM_DIR"}
	case errors.As(err, &unread) && IsReadOnly(err):
		return []string{"the memory is not yours to read: chown, chmod -R u+rwX, or name another with MEM_DIR"}
	case errors.Is(err, refs.ErrUnsafe):
		return []string{"mem doctor"} // it knows the line to type
	case errors.Is(err, refs.ErrFormat):
		return []string{"install a newer mem"}
	}
	return nil
}

// engineHints returns what can be done about an error of an engine.
func engineHints(err error) []string {
	var call *url.Error
	var program *engines.ExitError
	switch {
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
	}
	return nil
}

// deviceHints says how to go on with a memory that does not know its device.
func deviceHints(e *refs.DeviceError) []string {
	hints := []string{"put the file back from a backup, if there is one: all that was stored is there"}
	if !e.Missing {
		return append(append([]string{"mem fsck --repair"}, hints...),
			"else move it away and go on as a new device: mem init")
	}
	return append(hints, "else go on as a new device, beside what the old one stored: mem init")
}

// isFull reports whether a disk, or the share of it that the user may have, is full.
func isFull(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, diskQuota) }

func IsReadOnly(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}

// MissingHints says what may have been meant by a name that nothing has, or else what there is.
func MissingHints(missing *state.NotFoundError) []string {
	switch {
	case len(missing.Guests) > 0:
		const most = 3
		return []string{"name it with its device: " +
			strings.Join(term.QuoteAll(missing.Guests[:min(most, len(missing.Guests))]), ", "),
			"or trust the device: mem device trust"}
	case missing.What == "message":
		return []string{"its messages are " + strings.Join(missing.Candidates, ", ")}
	case strings.HasPrefix(missing.Name, "@") && len(missing.Candidates) > 0:
		return []string{"the oldest of the project is " + missing.Candidates[0]}
	case strings.HasPrefix(missing.Name, "@"):
		return []string{"the project has no sessions in memory: mem import",
			"see what there is with \"mem ls --all-projects\""}
	case missing.What == "known original" && len(missing.Candidates) == 0:
		return []string{"its file was never rewritten: " + term.Shell("mem", "show", missing.Of)}
	case missing.What == "marker" && len(missing.Candidates) == 0:
		return []string{"it has none; mark a text of a message: " + term.Shell("mem", "keepit", "add", missing.Of) +
			"#MESSAGE TEXT"}
	case missing.Of != "" && len(missing.Candidates) == 0:
		return []string{"it has none; make one with \"" + term.Shell("mem", "compress", missing.Of) + "\""}
	case missing.Of != "":
		return []string{"it has " + strings.Join(missing.Candidates, ", ")}
	case len(missing.Candidates) == 0:
		return listHint(missing.What)
	}
	if near := term.Suggest(missing.Name, missing.Candidates); len(near) > 0 && len(near) <= 3 {
		return []string{DidYouMean("", near)}
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
		"object": "write at least four digits of its name, or see all: mem ls-objects", "commit": "mem log",
		"project":     "mem project list",
		"composition": "mem show --manifest", "fact": "mem facts list", "concept": "mem concepts list",
		"rule": "mem rules list",
	}[what]
	if !ok {
		return nil
	}
	return []string{list}
}

// A problem is an error as --json prints it.
type Problem struct {
	Code    int      `json:"code"`
	Message string   `json:"message"`
	Hints   []string `json:"hints"`
}

// OneLine joins the lines of a message and makes it safe to print.
func OneLine(s string) string {
	return term.SanitizeLine(strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "; "))
}

// EncodeJSON writes v, which must encode as a JSON object, with the schema of what in front.
func EncodeJSON(what string, v any) ([]byte, error) {
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
	return term.EscapeJSON(append([]byte(head), body...)), nil
}
