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

// clientTimeout is the time limit for the client to print its version.
const clientTimeout = 5 * time.Second

// ClientError says why a version of Claude Code ("2.1.229 (Claude Code)") cannot run the hooks, or nil. A text that is no
// version says nothing.
func ClientError(version string) error {
	number, _, _ := strings.Cut(strings.TrimSpace(version), " ")
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
	ctx, cancel := context.WithTimeout(ctx, clientTimeout)
	defer cancel()
	cmd := e.Command(ctx, []string{"MEM_HOOK=off"}, path, "--version")
	cmd.WaitDelay = time.Second
	out, _ := cmd.Output() // without an answer there is no version
	if err := ClientError(string(out)); err != nil {
		return app.WithHint(err, "claude update")
	}
	return nil
}
