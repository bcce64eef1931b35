package hookset

import (
	"os/exec"
	"path/filepath"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/names"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/hooks"
	"github.com/memvcs/mem/layers/handover"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs/config"
)

// HookSettings reads the settings of hooks. An invalid value counts as the default, so that no session is disturbed.
func HookSettings(e *app.Env) (hooks.Settings, error) {
	c, err := e.Settings()
	if err != nil {
		return hooks.Settings{}, err
	}
	s := hooks.Settings{
		Capture: HookValue(c.Bool, "hooks.capture", true), Every: HookValue(c.Int, "hooks.every", 5),
		Ask: HookValue(c.Bool, "hooks.ask", false), AskAfterTokens: HookValue(c.Int, "hooks.askAfterTokens", 2000),
		Blocking: HookValue(c.String, "hooks.blocking", "off"),
	}
	_, from, err := c.Get("defaults.autoRegisterSessions")
	s.Register = err == nil && (from == config.Default || HookValue(c.Bool, "defaults.autoRegisterSessions", false))
	s.Distill = HookValue(c.String, "distill.engine", "") != ""
	s.ContextSize, s.PromptSize = HookValue(c.Int, "hooks.contextSize", 4000), HookValue(c.Int, "hooks.promptSize", 1500)
	s.Action = HookValue(c.String, "hooks.action", "on") != "off"
	s.Recall = HookValue(c.Bool, "recall.enabled", true)
	if s.Decay, err = names.DecayOf(c); err != nil {
		s.Decay = keepit.DefaultDecay
	}
	s.CaptureProject = func(p state.Project) bool {
		return HookValue(c.Bool, "hooks.captureProject."+string(p.ID), true)
	}
	return s, nil
}

// ContextOptions returns the options with which SessionStart chooses the text for a session in the working directory.
func ContextOptions(e *app.Env) (handover.ContextOptions, error) {
	s, err := HookSettings(e)
	return handover.ContextOptions{Dir: e.Dir, Program: CalledAs(e), Limit: s.ContextSize, Decay: s.Decay}, err
}

// HookValue returns the setting key, or otherwise if it is invalid.
func HookValue[T any](get func(string) (T, error), key string, otherwise T) T {
	v, err := get(key)
	if err != nil {
		return otherwise
	}
	return v
}

// CalledAs returns the command line prefix that runs this program on this memory: its name if that is found in
// PATH, else its path.
func CalledAs(e *app.Env) string {
	if e.Opt.MemDir != "" {
		return programName(e) + " --mem-dir " + term.Shell(e.Opt.MemDir)
	}
	return programName(e)
}

func programName(e *app.Env) string {
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
