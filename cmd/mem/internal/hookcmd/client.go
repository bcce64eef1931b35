package hookcmd

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/app"
)

// leastClient is the first version of Claude Code that gives a hook its arguments. An older one would run the shell alone,
// which would take the event, with what was typed, for its script.
var leastClient = [3]int{2, 1, 139}

// ClientTimeout is the time limit for the client to print its version.
const ClientTimeout = 5 * time.Second

// ClientError says why a version of Claude Code ("2.1.229 (Claude Code)") cannot run the hooks, or nil. A text that is no
// version says nothing.
func ClientError(version string) error {
	number, _, _ := strings.Cut(version, " ")
	number, _, _ = strings.Cut(number, "-")
	parts := strings.Split(number, ".")
	for i, p := range parts {
		n, err := strconv.Atoi(p)
		if err != nil || len(parts) != len(leastClient) || n > leastClient[i] {
			return nil
		}
		if n < leastClient[i] {
			return fmt.Errorf("Claude Code %s runs hooks without their arguments: they need %d.%d.%d", number, leastClient[0],
				leastClient[1], leastClient[2])
		}
	}
	return nil
}

// checkClient refuses a Claude Code on PATH that is too old for the hooks. Without one, or without an answer, it says nothing.
func checkClient(ctx context.Context, e *app.Env) error {
	path, err := exec.LookPath("claude")
	if err != nil {
		return nil
	}
	version, _ := ClientVersion(ctx, e, path) // without an answer there is no version
	if err := ClientError(version); err != nil {
		return app.WithHint(err, "claude update")
	}
	return nil
}

// ClientVersion returns what the client at a path prints as its version. It waits [ClientTimeout].
func ClientVersion(ctx context.Context, e *app.Env, path string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, ClientTimeout)
	defer cancel()
	cmd := e.Command(ctx, []string{"MEM_HOOK=off"}, path, "--version")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return strings.TrimSpace(string(out)), err
}
