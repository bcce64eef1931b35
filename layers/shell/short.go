package shell

import (
	"strings"

	"github.com/memvcs/mem/layers/tokens"
)

// ShortLine returns a command, after "$ ", without the directory at its start and the handling of output at its end.
// Commands that do the same have the same short form, which is a contiguous part of the command with its exit status.
func ShortLine(s string) string {
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

// Short returns a command without what says little: a leading cd, and all but the beginning of quoted texts.
func Short(cmd string) string {
	cmd = strings.TrimPrefix(ShortLine("$ "+strings.TrimPrefix(cmd, "$ ")), "$ ")
	cmd = staged().ReplaceAllString(cmd, "$1") // the files are in their own list
	cmd = heredoc().ReplaceAllStringFunc(cmd, func(s string) string {
		_, s, _ = strings.Cut(s, "\n")
		end := strings.LastIndexByte(strings.TrimRight(s, "\n )\""), '\n')
		return `"` + strings.ReplaceAll(s[:max(0, end)], `"`, "'") + `"`
	})
	return quoted().ReplaceAllStringFunc(cmd, func(s string) string {
		line, _, more := strings.Cut(strings.TrimSpace(s[1:len(s)-1]), "\n")
		if line = tokens.Clip(line, 72); more && !strings.HasSuffix(line, "…") {
			line += "…"
		}
		return `"` + line + `"`
	})
}

// Unfiltered returns a command without what shows a part of its output at its end.
func Unfiltered(cmd string) string {
	if !strings.Contains(cmd, "|") { // the expression is slow
		return cmd
	}
	return filters().ReplaceAllString(cmd, "")
}

var (
	filters = expression(`( 2>&1)?(\s*\|\s*(grep|rg|head|tail)\b(?:'[^']*'|"(?:[^"\\]|\\.)*"|[^;&|\n'"])*)+$`)
	// heredoc matches a text in a here-document, quoted the text in quotes.
	heredoc = expression(`(?s)"\$\(cat <<-?\s*['"\\]?\w+['"]?\n.*?\n\s*\w+\n?\s*\)"`)
	quoted  = expression(`"(?:[^"\\]|\\.)*"`)
	// staged matches what only prepares a commit.
	staged = expression(`^git (?:-C \S+ )?add [^&|;\n]*(?:&&|;|\n)\s*(git (?:-C \S+ )?commit\b)`)
)
