package compress

import (
	"strings"
)

// ShortCommand returns a command, after "$ ", without the directory at its start and the handling of output at its end.
// Commands that do the same have the same short form, which is a contiguous part of the command with its exit status.
func ShortCommand(s string) string {
	if rest, ok := strings.CutPrefix(s, "$ cd "); ok {
		if dir, cmd, ok := strings.Cut(rest, " && "); ok && !strings.ContainsAny(dir, "\n;|") {
			s = "$ " + cmd
		}
	}
	cmd, exit := s, ""
	if k := strings.LastIndex(s, exitMark); k > 0 {
		cmd, exit = s[:k], s[k:]
	}
	for again := true; again; {
		again = false
		for _, noise := range [...]string{" 2>&1", " 2>/dev/null", " || true"} {
			if rest, ok := strings.CutSuffix(cmd, noise); ok {
				cmd, again = rest, true
			}
		}
		for _, pager := range [...]string{" | head", " | tail"} {
			if k := strings.LastIndex(cmd, pager); k > 0 && !strings.ContainsAny(cmd[k+len(pager):], "|;&\n\"'") {
				cmd, again = cmd[:k], true
			}
		}
	}
	return cmd + exit
}

// exitMark stands between a command and the exit status with which it failed.
const exitMark = " -> exit "
