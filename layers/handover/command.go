package handover

import (
	"path"
	"slices"
	"strings"
)

// inspectors are programs that read or move files. They do not show how a project is built and tested.
var inspectors = strings.Fields(
	"ls cat cd echo rm mkdir head tail sed awk wc find grep egrep fgrep rg fd cp mv touch pwd which sleep true false test chmod chown sort uniq diff tree file stat " +
		"du df ps kill pkill export source printf date ln xargs tee less more env set unset read exit return cut tr jq open code vim nano basename dirname realpath git : [ type command")

// prefixes may precede a command and are ignored.
var prefixes = strings.Fields("sudo time nohup nice command exec then do else env ( { !")

// runners are programs whose subcommand is part of the name of a command.
var runners = strings.Fields(
	"go npm npx pnpm yarn bun cargo make mise uv pip python python3 node docker gh task just dotnet mvn gradle poetry deno terraform kubectl rake bundle mix swift zig rye hatch tox pytest")

// subcommandRunners are subcommands whose next word is part of the name, too.
var subcommandRunners = strings.Fields("run exec -m tool compose")

// A call is one command of a shell line.
type call struct {
	name, args string
}

// calls returns the commands of a shell line in order, without inspectors.
func calls(line string) []call {
	var out []call
	for _, part := range pieces(line) {
		if c, ok := commandOf(strings.Fields(part)); ok {
			out = append(out, c)
		}
	}
	return out
}

// pieces splits a line into its commands. Of a pipe it returns only the first one.
func pieces(line string) []string {
	if i := strings.Index(line, "<<"); i >= 0 {
		line = line[:i] // a here-document is data
	}
	line = strings.NewReplacer("&&", "\n", "||", "\n", ";", "\n").Replace(line)
	var out []string
	for part := range strings.SplitSeq(line, "\n") {
		part, _, _ = strings.Cut(part, "|")
		out = append(out, part)
	}
	return out
}

// commandOf parses the words of a command.
func commandOf(w []string) (c call, ok bool) {
	for len(w) > 0 {
		switch {
		case w[0] == "timeout" && len(w) > 1:
			w = w[2:]
			continue
		case slices.Contains(prefixes, w[0]) || assigns(w[0]):
			w = w[1:]
			continue
		}
		break
	}
	if len(w) == 0 || !word(w[0]) || strings.HasPrefix(w[0], "-") || slices.Contains(inspectors, path.Base(w[0])) {
		return c, false
	}
	n := 1
	if slices.Contains(runners, w[0]) {
		if len(w) > 1 && word(w[1]) {
			n = 2
		}
		if n == 2 && len(w) > 2 && slices.Contains(subcommandRunners, w[1]) && word(w[2]) {
			n = 3
		}
	} else if !strings.Contains(w[0], "/") {
		return c, false
	}
	c.name = strings.Join(w[:n], " ")
	c.args = plainArgs(w[n:])
	return c, true
}

// assigns reports whether a word sets a variable for the command that follows.
func assigns(s string) bool {
	name, _, ok := strings.Cut(s, "=")
	return ok && name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// maxArgs is the maximal length of arguments.
const maxArgs = 60

// plainArgs returns arguments if all of them are flags and file names, because plain words could form a sentence.
func plainArgs(w []string) string {
	if i := slices.IndexFunc(w, func(s string) bool { return strings.ContainsAny(s, "<>&") }); i >= 0 {
		w = w[:i]
	}
	for _, s := range w {
		flag := strings.HasPrefix(s, "-") && !strings.Contains(s, ",")
		file := strings.ContainsAny(s, "./") && FileName(strings.TrimSuffix(s, "...")+"x") != ""
		if !word(s) || !flag && !file {
			return ""
		}
	}
	if args := strings.Join(w, " "); len(args) <= maxArgs {
		return args
	}
	return ""
}
