package app

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"slices"
	"strconv"
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

// A hintedError is an error with commands to type or short advice.
type hintedError struct {
	error
	hints []string
}

func (e *hintedError) Unwrap() error { return e.error }

// WithHint adds hints to err: each is a command to type or short advice.
func WithHint(err error, hints ...string) error { return &hintedError{err, hints} }

// HintsOf returns the hints of err and of the errors that it wraps.
func HintsOf(err error) []string {
	var h *hintedError
	var unknown *config.UnknownKeyError
	var value *config.ValueError
	var missing *state.NotFoundError
	var foreign *projects.ForeignError
	var revoked *trust.RevokedError
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
			"; mem revoke lists the sources; mem revoke --undo --source SOURCE restores one",
			"to write it anyway: mem checkout --force"}
	case errors.As(err, &foreign):
		return ShareHints(foreign)
	case errors.As(err, &unknown):
		if near := term.Suggest(unknown.Key, unknown.Keys); len(near) > 0 {
			return []string{DidYouMean("", near)}
		}
		return []string{"mem config list"}
	case errors.As(err, &value):
		return []string{"mem config unset " + value.Key}
	case errors.As(err, &missing):
		return MissingHints(missing)
	case errors.Is(err, originals.ErrInputDeleted):
		return []string{"retry: a source was removed meanwhile"}
	}
	if hints := storeHints(err); hints != nil {
		return hints
	}
	return engineHints(err)
}

// storeHints returns the hints for errors of the store.
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
		return []string{"free some space and retry: the memory is intact"}
	case errors.Is(err, syscall.EFBIG):
		return []string{"the limit on file sizes is too low: see ulimit -f"}
	case (errors.As(err, &unwritten) || errors.As(err, &store)) && IsReadOnly(err):
		return []string{"the memory is read-only: make it writable (chmod -R u+w), or set MEM_DIR to another"}
	case errors.As(err, &unread) && IsReadOnly(err):
		return []string{"you may not read the memory: chown, chmod -R u+rwX, or set MEM_DIR to another"}
	case errors.Is(err, refs.ErrUnsafe):
		return []string{"mem doctor"} // it prints the exact command
	case errors.Is(err, refs.ErrFormat):
		return []string{"install a newer mem"}
	}
	return nil
}

// engineHints returns the hints for errors of an engine.
func engineHints(err error) []string {
	var call *url.Error
	var program *engines.ExitError
	switch {
	case errors.Is(err, engines.ErrAuth):
		return []string{"set the environment variable of the key, or llm.apiKeyCommand: mem help environment"}
	case errors.Is(err, engines.ErrCap):
		return []string{"mem stats --by day", "a cap is a setting: mem config list"}
	case errors.Is(err, engines.ErrTimeout):
		return []string{"mem config set llm.timeout 30m"}
	case errors.As(err, &call) && call.Op == "Post":
		return []string{"the address of the model server is a setting: mem config get llm.baseURL"}
	case errors.As(err, &program):
		return []string{"the engine's command is a setting: mem config list"}
	case errors.Is(err, engines.ErrRecorded):
		return []string{"replay needs a recorded answer to the same question with the same settings"}
	}
	return nil
}

// deviceHints returns the hints for a memory whose device file is missing or damaged.
func deviceHints(e *refs.DeviceError) []string {
	hints := []string{"restore the file from a backup if you have one: no stored data is lost"}
	if !e.Missing {
		return append(append([]string{"mem fsck --repair"}, hints...),
			"otherwise move it away and continue as a new device: mem init")
	}
	return append(hints, "otherwise continue as a new device, next to the old one's data: mem init")
}

// isFull reports whether the disk or the user's quota is full.
func isFull(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, diskQuota) }

// IsReadOnly reports whether err is about missing permission or a read-only file system.
func IsReadOnly(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}

// MissingHints suggests similar names for one that was not found, or lists the names that exist.
func MissingHints(missing *state.NotFoundError) []string {
	switch {
	case missing.What == "message":
		return []string{"its messages are " + strings.Join(missing.Candidates, ", ")}
	case strings.HasPrefix(missing.Name, "@") && !IsRecent(missing.Name):
		return []string{"@ is the newest session, @~3 three sessions earlier: mem help revisions"}
	case strings.HasPrefix(missing.Name, "@") && len(missing.Candidates) > 0:
		return []string{"the oldest of the project is " + missing.Candidates[0]}
	case strings.HasPrefix(missing.Name, "@"):
		return []string{"list all sessions with \"mem ls --all-projects\""}
	case missing.What == "known original" && len(missing.Candidates) == 0:
		return []string{"its file was never rewritten: " + term.Shell("mem", "show", missing.Of)}
	case missing.What == "marker" && len(missing.Candidates) == 0:
		return []string{"it has none; pin a text of a message: " + term.Shell("mem", "keepit", "add", missing.Of) +
			"#MESSAGE TEXT"}
	case missing.Of != "" && len(missing.Candidates) == 0:
		return []string{"it has none; make one with \"" + term.Shell("mem", "compress", missing.Of) + "\""}
	case missing.Of != "":
		return []string{"it has " + strings.Join(missing.Candidates, ", ")}
	case len(missing.Candidates) == 0:
		return listHint(missing.What)
	}
	if missing.What == "session" && slices.Contains(missing.Candidates, missing.Name) {
		return []string{"it is a composition, which has no versions, layers or numbered messages: " +
			term.Shell("mem", "show", missing.Name)}
	}
	if missing.What == "session" && len(missing.Name) < 4 {
		if like := slices.DeleteFunc(slices.Clone(missing.Candidates), func(id string) bool {
			return !strings.HasPrefix(id, missing.Name)
		}); len(like) > 0 {
			const most = 3
			return []string{"the start of an id needs four characters: " + OrList(like[:min(most, len(like))])}
		}
	}
	if near := term.Suggest(missing.Name, missing.Candidates); len(near) > 0 && len(near) <= 3 {
		return []string{DidYouMean("", near)}
	}
	const most = 8
	short := ""
	if missing.What == "session" && len(missing.Name) < 4 && strings.Trim(missing.Name, "0123456789abcdef") == "" {
		short = "the start of an id needs four characters; "
	}
	n := len(missing.Candidates)
	switch {
	case n > most && missing.What == "session":
		return []string{short + "mem ls lists the sessions, mem search WORDS finds them by what was said"}
	case n > most:
		return []string{fmt.Sprintf("%sthere are %s and %d more", short, strings.Join(missing.Candidates[:most], ", "), n-most)}
	}
	verb := "is"
	if len(missing.Candidates) > 1 {
		verb = "are"
	}
	return []string{short + "there " + verb + " " + strings.Join(missing.Candidates, ", ")}
}

// IsRecent reports whether name has the form "@" or "@~3".
func IsRecent(name string) bool {
	digits, ok := strings.CutPrefix(name, "@~")
	_, err := strconv.ParseUint(digits, 10, 32)
	return name == "@" || ok && err == nil
}

// listHint returns the command that lists all things of a kind.
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

// ShareHints returns the command that allows one project's text in another, and the one that deletes the composition
// with the text.
func ShareHints(f *projects.ForeignError) []string {
	hints := []string{term.Shell("mem", "project", "share", f.From, f.With)}
	if f.Composition == "" {
		return hints
	}
	forget := term.Shell("mem", "forget", f.Composition, "-p", f.With)
	if f.Removed {
		return append(hints, "or delete the hidden composition permanently: "+forget)
	}
	return append(hints, "or delete the composition permanently: "+forget)
}
