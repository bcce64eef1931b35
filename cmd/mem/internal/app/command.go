package app

import (
	"context"
	"os/exec"
	"strings"
)

// Command returns a command that runs another program in [Env.Dir], with settings added to its environment. Every
// program that mem runs is started through it, so that none inherits what [inherits] removes.
func (e *Env) Command(ctx context.Context, settings []string, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = e.Dir, []string{} // nil would inherit all of the environment of this process
	if e.Environ != nil {
		for _, v := range e.Environ() {
			if name, _, _ := strings.Cut(v, "="); inherits(name) {
				cmd.Env = append(cmd.Env, v)
			}
		}
	}
	cmd.Env = append(cmd.Env, settings...)
	return cmd
}

// gitVariables are the variables of git that other programs inherit: those that say how to reach a server and where the
// user's settings are. All others describe one call of git, such as the repository of the hook that runs mem: with
// GIT_DIR, git answers every question for that repository.
var gitVariables = map[string]bool{
	"GIT_ASKPASS": true, "GIT_TERMINAL_PROMPT": true,
	"GIT_SSH": true, "GIT_SSH_COMMAND": true, "GIT_SSH_VARIANT": true, "GIT_PROXY_COMMAND": true,
	"GIT_SSL_CAINFO": true, "GIT_SSL_CAPATH": true, "GIT_SSL_CERT": true, "GIT_SSL_KEY": true, "GIT_SSL_NO_VERIFY": true,
	"GIT_CONFIG_GLOBAL": true, "GIT_CONFIG_SYSTEM": true, "GIT_CONFIG_NOSYSTEM": true,
}

// sessionVariables are the variables that Claude Code sets for the programs of one session, except the messaging ones.
var sessionVariables = map[string]bool{
	"CLAUDECODE": true, "CLAUDE_PID": true, "CLAUDE_PROJECT_DIR": true, "CLAUDE_ENV_FILE": true,
	"CLAUDE_CODE_SESSION_ID": true, "CLAUDE_CODE_CHILD_SESSION": true, "CLAUDE_CODE_ENTRYPOINT": true,
}

// inherits reports whether a program that mem runs inherits a variable. The names of variables have no case on Windows.
func inherits(name string) bool {
	name = strings.ToUpper(name)
	if strings.HasPrefix(name, "GIT_") {
		return gitVariables[name]
	}
	return !sessionVariables[name] && !strings.HasPrefix(name, "CLAUDE_CODE_MESSAGING_")
}
