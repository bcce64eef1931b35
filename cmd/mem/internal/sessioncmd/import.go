package sessioncmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/hookcmd"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/handover"
	"github.com/memvcs/mem/layers/interchange"
	"github.com/memvcs/mem/layers/projects"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/sync"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/refs"
)

type importOptions struct {
	noL1  bool
	agent string
	trust bool // trust the devices of an archive
}

// An ArchiveReader merges an archive into the memory, and trusts its devices if trust is set.
type ArchiveReader func(ctx context.Context, e *app.Env, file string, trust bool) error

// ImportCommand returns the command that captures everything Claude Code has.
func ImportCommand(e *app.Env, readArchive ArchiveReader) *cli.Command {
	var o importOptions
	return &cli.Command{
		Name:      "import",
		Usage:     "capture all sessions of Claude Code, or an archive",
		ArgsUsage: "[<dir>|<file>.bundle]",
		Description: "Without a directory, captures the sessions under ~/.claude, or CLAUDE_CONFIG_DIR.\n" +
			"Subagents and overflow files of tool results are captured with their sessions.\n" +
			"Importing again adds only new data. Hidden sessions stay hidden, but that of one\n" +
			"file is shown again.\n\n" +
			"--agent imports from ~/.codex (CODEX_HOME), ~/.gemini, or ~/.local/share/opencode\n" +
			"(XDG_DATA_HOME), or from one file. A Codex session is stored as it is. Files of Gemini\n" +
			"and OpenCode are stored byte for byte (\"mem checkout --files\" writes them), with\n" +
			"records made from them. Unknown parts are stored and listed.\n\n" +
			"The stores of cc_context_eng and memory-keeper are recognised by their content. Every\n" +
			"item of such a store is listed with its result; existing data does not change, and an\n" +
			"item that cannot be verified is not trusted.\n\n" +
			"An archive of \"mem export\" is verified like a remote; existing data does not change.\n" +
			"An interrupted import is completed by running it again.",
		Flags: []cli.Flag{
			app.BoolFlag(&o.noL1, "no-l1", "capture only; derive L1 and count tokens when they are needed"),
			app.ChoiceFlag(&o.agent, "agent", "capture the sessions of another `AGENT`: codex, gemini or opencode",
				transcript.AgentNames()...),
			app.BoolFlag(&o.trust, "trust", "trust every device in the archive (all of them are yours)"),
		},
		Action: e.Action(0, 1, func(c *cli.Context) error {
			if is, err := sync.IsArchive(e.Path(e.Operand(0))); err != nil {
				return err
			} else if is && o.agent == "" {
				return readArchive(c.Context, e, e.Operand(0), o.trust)
			}
			if strings.HasSuffix(e.Operand(0), ".bundle") && o.agent == "" {
				if _, err := os.Stat(e.Path(e.Operand(0))); err != nil {
					return fmt.Errorf("import: %w", err)
				}
				return app.WithHint(fmt.Errorf("%s is not an archive of mem", e.Operand(0)), "mem export writes one")
			}
			if o.trust {
				return app.WithHint(app.Usagef("--trust is for archives"), "mem import --trust FILE.bundle")
			}
			if e.Operand(0) != "" && o.agent == "" {
				if store, err := interchange.OpenStore(e.Path(e.Operand(0))); err == nil {
					defer store.Close()
					return runImportStore(c.Context, e, o, store)
				} else if syntax := (*interchange.SyntaxError)(nil); errors.As(err, &syntax) {
					return fmt.Errorf("import %s: %w", e.Operand(0), err)
				}
			}
			return runImport(c.Context, e, o, e.Operand(0))
		}),
	}
}

// noClient returns the error for a device without sessions of Claude Code.
func noClient(e *app.Env, dir string) error {
	hints := []string{"capture the sessions of another directory: mem import DIR"}
	if !hookcmd.Found(e) {
		hints = append([]string{"capture them automatically: mem hooks install"}, hints...)
	}
	return app.WithHint(fmt.Errorf("Claude Code has no sessions in %s", dir), hints...)
}

func runImport(ctx context.Context, e *app.Env, o importOptions, operand string) error {
	dir, err := importDir(e, o.agent, operand)
	if err != nil {
		return err
	}
	temp := ""
	if o.agent != "" {
		if temp, err = os.MkdirTemp("", "mem-import-"); err != nil {
			return err
		}
		defer os.RemoveAll(temp)
	}
	return app.WithStore(e, func(m *layers.Memory) error {
		sources, err := importSources(ctx, e, m, o.agent, dir, temp)
		if errors.Is(err, os.ErrNotExist) {
			if o.agent == "" && operand == "" {
				return noClient(e, dir)
			}
			return app.WithHint(fmt.Errorf("import: %w", err), "name the directory of the session files (*.jsonl)")
		}
		failed, fatal := splitErrors(err)
		failed = slices.DeleteFunc(failed, func(err error) bool { return warnTorn(e, err) })
		if database := (*transcript.DatabaseError)(nil); errors.As(fatal, &database) {
			if len(sources) == 0 && len(failed) == 0 {
				return app.WithHint(fmt.Errorf("import: %w", database), databaseHint)
			}
			e.Warn("%v", error(database))
			e.Hint("%s", databaseHint)
			fatal = nil
		}
		if fatal != nil {
			return fmt.Errorf("import %s: %w", dir, fatal)
		}
		switch none := len(sources) == 0 && len(failed) == 0; {
		case none && o.agent != "":
			return app.WithHint(fmt.Errorf("no sessions of %s under %s", o.agent, dir), "name their directory")
		case none && operand == "":
			return noClient(e, dir)
		case none:
			return app.WithHint(fmt.Errorf("no session files (*.jsonl) under %s", dir), "name their directory")
		}
		fi, serr := os.Stat(dir)
		show := serr == nil && fi.Mode().IsRegular() // the user names the session
		err = addAll(ctx, e, m, addition{op: "import", sources: sources, show: show, failed: failed, then: func(added []capture.Added) error {
			if err := warnUnknown(e, o.agent, added); err != nil || o.noL1 {
				return err
			}
			return refineAdded(ctx, e, m, added)
		}})
		if o.agent == "" && operand == "" {
			dirs, more := projectDirs(ctx, m)
			if more == nil {
				more = captureNotes(ctx, e, m, dirs)
			}
			if more != nil {
				return errors.Join(err, more)
			}
			if err == nil && !hookcmd.Found(e) {
				e.Hint("mem hooks install captures the next sessions, and briefs each of them")
			}
		}
		return err
	})
}

// warnTorn warns of a file of another agent that is not valid JSON, and reports whether err is about one. Such a file
// may be being written; the next import reads it again.
func warnTorn(e *app.Env, err error) bool {
	var file *transcript.FileError
	var syntax *json.SyntaxError
	torn := errors.As(err, &file) && (errors.As(err, &syntax) || errors.Is(err, io.ErrUnexpectedEOF))
	if torn {
		e.Warn("%v: not captured", error(file))
	}
	return torn
}

// refineAdded derives L1, token counts and digests of the added sessions.
func refineAdded(ctx context.Context, e *app.Env, m *layers.Memory, added []capture.Added) error {
	var size int64
	for _, a := range added {
		size += a.Now.Size
	}
	bar := e.ProgressBytes("reading", size)
	defer bar.End()
	return errors.Join(derive.CacheL1(ctx, m.DB, added, bar.Add), capture.CountAdded(ctx, m.DB, added),
		makeDigests(ctx, m, added))
}

// databaseHint is the way to import sessions from the database of OpenCode.
const databaseHint = "opencode session list; opencode export SESSION > SESSION.json; " +
	"mem import --agent opencode SESSION.json"

// makeDigests computes the digests of the projects with new data in advance, to save time at the start of sessions.
func makeDigests(ctx context.Context, m *layers.Memory, added []capture.Added) error {
	made := map[refs.Project]bool{}
	for _, a := range added {
		if a.Change == "unchanged" || made[a.Project.ID] {
			continue
		}
		made[a.Project.ID] = true
		if err := handover.MakeDigests(ctx, m.DB, a.Project); err != nil {
			return err
		}
	}
	return nil
}

// importDir returns the directory to import from: dir, or the default of the agent.
func importDir(e *app.Env, agent, dir string) (string, error) {
	var err error
	switch {
	case dir != "":
	case agent == "codex":
		if dir = e.Getenv("CODEX_HOME"); dir == "" {
			dir, err = e.UnderHome(".codex", "CODEX_HOME")
		}
	case agent == "gemini":
		dir, err = e.UnderHome(".gemini", "HOME")
	case agent == "opencode":
		if dir = e.Getenv("XDG_DATA_HOME"); dir == "" {
			dir, err = e.UnderHome(filepath.Join(".local", "share"), "XDG_DATA_HOME")
		}
		dir = filepath.Join(dir, "opencode")
	default:
		dir, err = e.ClaudeDir()
	}
	return e.Path(dir), err
}

// importSources returns the sessions in dir of Claude Code or another agent, whose are written to the directory temp.
func importSources(ctx context.Context, e *app.Env, m *layers.Memory, agent, dir, temp string) ([]capture.Source, error) {
	if agent == "" {
		return capture.Sources(dir)
	}
	dirs, err := projectDirs(ctx, m)
	if err != nil {
		return nil, err
	}
	return capture.AgentSources(agent, dir, temp, append([]string{e.Dir}, dirs...))
}

// projectDirs returns the directories of all projects.
func projectDirs(ctx context.Context, m *layers.Memory) ([]string, error) {
	paths, err := projects.Paths(ctx, m.DB)
	return app.Each(paths, func(p records.PathBody) string { return p.Path }), err
}
