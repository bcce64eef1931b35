package app

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/engines"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/projects"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/sync"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/config"
	"github.com/memvcs/mem/refs/disk"
	"github.com/memvcs/mem/refs/remote"
	"github.com/memvcs/mem/refs/sealed"
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
	if !errors.As(err, &h) {
		_, hints := known(err)
		return hints
	}
	hints := slices.Clone(h.hints)
	for _, more := range HintsOf(h.error) {
		if !slices.ContainsFunc(hints, func(said string) bool { return strings.Contains(said, more) }) {
			hints = append(hints, more)
		}
	}
	return hints
}

const sessionFiles = "session files are ~/.claude/projects/*/*.jsonl; list them with \"mem ls --untracked\""

// knownErrors have the exit status, 0 for that of any failure, and the hints of errors of other packages, whatever the
// command. The first match wins.
var knownErrors = []struct {
	err   error
	exit  int
	hints []string
}{
	{context.Canceled, ExitInterrupted, nil},
	{originals.ErrInputDeleted, 0, []string{"retry: a source was removed meanwhile"}},
	{state.ErrNotTranscript, 0, []string{sessionFiles}},
	{capture.ErrChanging, 0, []string{"retry when no program rewrites the file; a file that only grows can be added at any time"}},
	{originals.ErrWithheld, 0, []string{`the clean transcript is here: "mem show SESSION --format text"`}},
	{refs.ErrNotRepo, exitNoMemory, []string{"mem init"}},
	{refs.ErrDamaged, 0, []string{"mem fsck --repair"}},
	{refs.ErrLocked, exitLocked, []string{"wait longer with --lock-timeout"}},
	{config.ErrLocked, exitLocked, []string{"wait longer with --lock-timeout"}},
	{syscall.ENOSPC, 0, []string{"free some space and retry: the memory is intact"}},
	{diskQuota, 0, []string{"free some space and retry: the memory is intact"}},
	{syscall.EFBIG, 0, []string{"the limit on file sizes is too low: see ulimit -f"}},
	{refs.ErrUnsafe, 0, []string{"mem doctor"}}, // it prints the exact command
	{refs.ErrFormat, 0, []string{"install a newer mem"}},
	{engines.ErrAuth, ExitAuth, []string{"set the environment variable of the key, or llm.apiKeyCommand: mem help environment"}},
	{engines.ErrCap, ExitBudget, []string{"mem stats --by day", "a cap is a setting: mem config list"}},
	{engines.ErrTimeout, 0, []string{"mem config set llm.timeout 30m"}},
	{engines.ErrRecorded, 0, []string{"replay needs a recorded answer to the same question with the same settings"}},
	{disk.ErrExists, 0, []string{"replace it with --force, or name another file or directory with -o"}},
	{disk.ErrLink, 0, []string{"name another file or directory with -o"}},
	{disk.ErrInWay, 0, []string{"name another file or directory with -o"}},
	{disk.ErrName, 0, []string{"name another file or directory with -o"}},
	{sync.ErrNoRemote, ExitNo, []string{"mem remote add origin git@host:me/memory.git"}},
	{sync.ErrWhichRemote, ExitUsage, []string{"name one; without a name, the remote origin is used"}},
	{sync.ErrRemoteExists, 0, []string{"mem remote list"}},
	{sync.ErrIncomplete, 0, []string{"mem fsck --repair"}},
	{sync.ErrPublic, ExitNo, []string{"make the repository private: memory contains your conversations with Claude"}},
	{sync.ErrNotSealed, ExitNo, []string{"mem remote add --encrypt NAME URL"}},
	{remote.ErrAuth, ExitAuth, []string{"for https: git credential approve, or a helper (git help credentials); for ssh: ssh-add, ssh -T"}},
	{remote.ErrAbsent, 0, []string{"create an empty private repository there; in a directory: git init --bare DIR"}},
	{remote.ErrTooMany, 0, []string{"git ls-remote --heads lists them: a memory has one for each device and project"}},
	{remote.ErrDropped, 0, []string{"run the same command again: received data stays"}},
	{remote.ErrURL, 0, []string{"mem remote set-url"}},
	{sealed.ErrNoKey, ExitAuth, nil},
	{sealed.ErrPlain, ExitNo, []string{"use an empty repository for an encrypted remote"}},
	{sealed.ErrKeyring, ExitNo, []string{"nothing was fetched from it; if the remote was restored from a backup, mem push restores the newest keyring"}},
}

// known returns the exit status and the hints of an error of another package: of a type that says what is meant, or one of
// [knownErrors].
func known(err error) (exit int, hints []string) {
	var unknown *config.UnknownKeyError
	var value *config.ValueError
	var missing *state.NotFoundError
	var foreign *projects.ForeignError
	var revoked *trust.RevokedError
	var device *refs.DeviceError
	var unwritten *refs.WriteError
	var store *Unwritable
	var unread *Unreadable
	var call *url.Error
	var program *engines.ExitError
	var stalled *remote.StalledError
	var waiting *sealed.NotMemberError
	var behind *originals.BehindError
	var src *capture.SourceError
	switch {
	case errors.As(err, &revoked):
		return 0, []string{term.Shell("mem", "why", revoked.What) +
			"; mem revoke lists the sources; mem revoke --undo --source SOURCE restores one",
			"to write it anyway: mem checkout --force"}
	case errors.As(err, &foreign):
		return 0, ShareHints(foreign)
	case errors.As(err, &unknown):
		if near := term.Suggest(unknown.Key, unknown.Keys); len(near) > 0 {
			return 0, []string{DidYouMean("", near)}
		}
		return 0, []string{"mem config list"}
	case errors.As(err, &value):
		return 0, []string{"mem config unset " + value.Key}
	case errors.As(err, &missing):
		return 0, MissingHints(missing)
	case errors.As(err, &device):
		return 0, deviceHints(device)
	case errors.As(err, &behind):
		return ExitPartial, []string{`run "` + term.Shell("mem", "checkout", term.ShortID(behind.Session.ID)+":original") + `" there`,
			"the clean transcript of all of it is here: mem cat-file b3:" + behind.Session.Now().Original.String()}
	case (errors.As(err, &unwritten) || errors.As(err, &store)) && IsReadOnly(err):
		return 0, []string{"the memory is read-only: make it writable (chmod -R u+w), or set MEM_DIR to another"}
	case errors.As(err, &unread) && IsReadOnly(err):
		return 0, []string{"you may not read the memory: chown, chmod -R u+rwX, or set MEM_DIR to another"}
	case errors.As(err, &stalled):
		return 0, []string{"run the same command again: received data stays; a server that needs longer: mem -c remote.quiet=1m ..."}
	case errors.As(err, &waiting):
		return ExitAuth, []string{"on a device that can read it: mem device approve " + waiting.Request.String() +
			" NAME; then here: mem pull",
			"or with the recovery key: mem remote rm NAME, then mem remote add --encrypt --recovery-key FILE NAME URL"}
	case errors.As(err, &program):
		return 0, []string{"the engine's command is a setting: mem config list"}
	}
	for _, k := range knownErrors {
		if errors.Is(err, k.err) {
			return k.exit, k.hints
		}
	}
	switch {
	case errors.As(err, &src) && errors.Is(err, fs.ErrPermission):
		return 0, []string{"make it readable: chmod u+r"}
	case errors.As(err, &src):
		return 0, []string{sessionFiles}
	case errors.As(err, &call) && call.Op == "Post":
		return 0, []string{"the address of the model server is a setting: mem config get llm.baseURL"}
	}
	return 0, nil
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

// IsReadOnly reports whether err is about missing permission or a read-only file system.
func IsReadOnly(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}

// MissingHints suggests similar names for one that was not found, or lists the names that exist.
func MissingHints(missing *state.NotFoundError) []string {
	switch {
	case missing.What == "message":
		return []string{"#N is a line of the session's file; those that are kept are " + strings.Join(missing.Candidates, ", ")}
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
	if len(missing.Candidates) > most && missing.What == "session" {
		return []string{short + "mem ls lists the sessions, mem search WORDS finds them by what was said"}
	}
	verb := cmp.Or(If(len(missing.Candidates) > 1, "are"), "is")
	return []string{short + "there " + verb + " " + term.Some(missing.Candidates, most)}
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
