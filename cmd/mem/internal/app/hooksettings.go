package app

import (
	"cmp"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/hooks"
	"github.com/memvcs/mem/layers/handover"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs/config"
)

// HookSettings reads the settings of hooks.
func HookSettings(e *Env) (hooks.Settings, error) {
	c, err := e.Settings()
	if err != nil {
		return hooks.Settings{}, err
	}
	_, from, err := c.Get("defaults.autoRegisterSessions")
	return hooks.Settings{
		Capture: c.Bool("hooks.capture"), Every: c.Int("hooks.every"), Ask: c.Bool("hooks.ask"),
		AskAfterTokens: c.Int("hooks.askAfterTokens"), Blocking: c.String("hooks.blocking"),
		Register: err == nil && (from == config.Default || c.Bool("defaults.autoRegisterSessions")),
		Distill:  c.String("distill.engine"), ContextSize: c.Int("hooks.contextSize"), PromptSize: c.Int("hooks.promptSize"),
		Action: c.String("hooks.action") != "off", Recall: c.Bool("recall.enabled"), Decay: DecayOf(c),
		CaptureProject: func(p state.Project) bool { return c.Bool("hooks.captureProject." + string(p.ID)) },
	}, nil
}

// ContextOptions returns the options with which SessionStart chooses the text for a session in the working directory.
func ContextOptions(e *Env) (handover.ContextOptions, error) {
	s, err := HookSettings(e)
	return handover.ContextOptions{Dir: e.Dir, Program: CalledAs(e), Limit: s.ContextSize, Decay: s.Decay}, err
}

// CalledAs returns the command line prefix that runs this program on this memory: its name if that is found in
// PATH, else its path.
func CalledAs(e *Env) string {
	if e.Opt.MemDir != "" {
		return programName(e) + " --mem-dir " + term.Shell(e.Opt.MemDir)
	}
	return programName(e)
}

func programName(e *Env) string {
	self, err := e.Executable()
	if err != nil {
		return "mem"
	}
	found, err := exec.LookPath("mem")
	if err == nil {
		found, err = filepath.EvalSymlinks(found)
	}
	if err == nil && found == self {
		return "mem"
	}
	return term.Shell(self)
}

// EditCommand returns the command that opens a file in an editor, with the change as a comment.
func EditCommand(file, change string) string {
	editor := cmp.Or(If(runtime.GOOS == "windows", "notepad"), "${EDITOR:-vi}")
	return editor + " " + term.Shell(file) + "  # " + change
}
