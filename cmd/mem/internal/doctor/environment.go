package doctor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/hookcmd"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/hooks"
	"github.com/memvcs/mem/refs/config"
)

// program checks that "mem" on the command line is this program.
func (x *Exam) program() {
	const check = "program"
	self, err := x.E.Executable()
	if err != nil {
		x.fail(check, "go install ./cmd/mem", "the file of this program is missing: %v", err)
		return
	}
	on := x.onPath("mem")
	switch {
	case len(on) == 0:
		x.warn(check, "export PATH=\"$PATH\":"+term.Shell(filepath.Dir(self)), "%s is not on PATH", self)
	case !term.SameFile(on[0], self):
		x.warn(check, "export PATH="+term.Shell(filepath.Dir(self))+":\"$PATH\"",
			"the shell runs %s, this program is %s", on[0], self)
	default:
		x.ok(check, "mem %s, %s", app.ThisBuild().Version, self)
	}
}

// onPath returns the programs with a name on PATH, in order.
func (x *Exam) onPath(name string) []string {
	names := []string{name}
	if runtime.GOOS == "windows" {
		names = []string{name + ".exe", name + ".cmd", name + ".bat"}
	}
	var out []string
	for _, dir := range filepath.SplitList(x.E.Getenv("PATH")) {
		for _, n := range names {
			path := filepath.Join(dir, n)
			fi, err := os.Stat(path)
			if filepath.IsAbs(dir) && err == nil && fi.Mode().IsRegular() &&
				(runtime.GOOS == "windows" || fi.Mode().Perm()&0o111 != 0) {
				out = append(out, path)
			}
		}
	}
	return out
}

// hooks checks that sessions are captured automatically, and by this program.
func (x *Exam) hooks() {
	const check = "hooks"
	r, err := hookcmd.Judge(x.E, "")
	switch {
	case r.Program == "":
		return // program reports the error
	case err != nil:
		x.fail(check, "export CLAUDE_CONFIG_DIR=\"$HOME/.claude\"", "%v", err)
		return
	}
	wrong := false
	for _, in := range r.Files {
		wrong = wrong || in.Problem != ""
		switch {
		case in.Grave:
			x.fail(check, in.Fix, "%s", in.Problem)
		case in.Problem != "":
			x.warn(check, in.Fix, "%s", in.Problem)
		}
	}
	p, scopes := r.Plugin, r.Scopes()
	where := "(" + strings.Join(scopes, ", ") + ")"
	by := where
	if p != nil && p.Off == "" {
		by = "by " + x.E.Safe(p.Name()) + " (" + p.Scope + ")"
		if !p.Ran.IsZero() {
			by += ", last run at " + p.Ran.Format("2006-01-02 15:04")
		}
	}
	switch s, err := app.HookSettings(x.E); {
	case err != nil: // settings reports the error
	case p.Twice(scopes):
		x.warn(check, hookcmd.UninstallFrom(scopes), "each hook runs twice: from the settings %s and from %s", where, x.E.Safe(p.Name()))
	case p != nil && p.Off != "" && !wrong:
		x.warn(check, app.EditCommand(p.Off, "remove \"disableAllHooks\""), "all hooks are disabled in %s", p.Off)
	case !r.Installed() && !wrong:
		x.warn(check, "mem hooks install", "not installed: only \"mem import\" and \"mem add\" capture sessions")
	case !r.Installed():
	case s.Capture:
		x.ok(check, "installed %s", by)
	default:
		x.warn(check, "mem config set hooks.capture true", "installed %s, but hooks.capture is off", by)
	}
	if lines := hookcmd.LastLines(hooks.LogFile(x.Dir), 1); len(lines) > 0 && lines[0] != "" {
		x.warn(check, "mem hooks status; "+term.Shell("rm", hooks.LogFile(x.Dir)), "the last error: %s", lines[0])
	}
}

// client checks the version of Claude Code.
func (x *Exam) client() {
	const check = "client"
	on := x.onPath("claude")
	if len(on) == 0 {
		x.ok(check, "Claude Code is not on PATH; mem works without it")
		return
	}
	version, err := hookcmd.ClientVersion(x.Ctx, x.E, on[0])
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		x.warn(check, "claude doctor", "%s did not print its version in %v", on[0], hookcmd.ClientTimeout)
	case err != nil:
		x.warn(check, "claude doctor", "%s --version: %v", on[0], err)
	case !isVersion(version):
		x.warn(check, "claude doctor", "%s printed an unknown version: %q", on[0], version)
	case hookcmd.ClientError(version) != nil:
		x.warn(check, "claude update", "%v", hookcmd.ClientError(version))
	default:
		x.ok(check, "%s, %s", version, on[0])
	}
}

// isVersion reports whether a text starts with a version: "2.1.229 (Claude Code)".
func isVersion(s string) bool {
	word, _, _ := strings.Cut(s, " ")
	number, _, _ := strings.Cut(word, "-")
	parts := strings.Split(number, ".")
	for _, p := range parts {
		if p == "" || strings.Trim(p, "0123456789") != "" {
			return false
		}
	}
	return len(parts) == 3
}

// settings checks config.json.
func (x *Exam) settings() {
	const check = "settings"
	conf, err := x.E.Settings()
	file := filepath.Join(x.Dir, "config.json")
	if err != nil {
		x.fail(check, FixConfig(file, err), "%v", err)
		return
	}
	var value *config.ValueError
	if err := conf.Check(); errors.As(err, &value) {
		x.fail(check, term.Shell("mem", "config", "unset", value.Key), "%v", err)
		return
	}
	unknown := conf.Unknown()
	if len(unknown) == 0 {
		x.ok(check, "all valid")
		return
	}
	names := app.Each(config.Keys(), func(k config.Key) string { return k.Name })
	for _, key := range unknown {
		fix := term.Shell("mem", "config", "unset", key)
		if near := term.Suggest(key, names); len(near) > 0 {
			fix += "; mem config set " + near[0] + " VALUE"
		}
		x.warn(check, fix, "unknown setting %s", key)
	}
}
