package main

import (
	"slices"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/cli"
)

// A command is one row of the table of commands.
type command struct {
	name   string
	alias  string
	group  group
	writes []string // subcommands that change something and so take -n and -y; "" is the command itself
	across []string // subcommands for which --all-projects has a meaning; "" is the command itself
	plain  bool     // only prints: an interrupt kills it, as it does any such program
	bare   string   // the subcommand that the command alone stands for; "" if it wants one
	common bool     // one of those that "mem help" lists
	make   func(*Env) *cli.Command
}

// changes reports whether the command at path, which starts with the name of c, changes something.
func (c command) changes(path []string) bool {
	if len(path) == 0 {
		return false
	}
	return slices.Contains(c.writes, strings.Join(path[1:], " "))
}

// spans reports whether --all-projects has a meaning for the command at path.
func (c command) spans(path []string) bool {
	return len(path) > 0 && slices.Contains(c.across, strings.Join(path[1:], " "))
}

// A group is a heading of "mem help".
type group string

const (
	groupStart    group = "start"
	groupLook     group = "look at memory"
	groupMake     group = "compress and compose"
	groupShare    group = "sync"
	groupKeep     group = "maintain"
	groupHelp     group = "settings and help"
	groupPlumbing group = "plumbing, for scripts"
	groupHidden   group = "" // names that work and are not listed: options of other commands do the same
)

func groups() []group {
	return []group{groupStart, groupLook, groupMake, groupShare, groupKeep, groupHelp, groupPlumbing}
}

// commands is the table of commands, in the order of "mem help". Only the command that is run is made.
func commands() []command {
	return []command{
		{name: "init", group: groupStart, common: true, writes: []string{""}, make: (*Env).init},
		{name: "demo", group: groupStart, make: (*Env).demo},
		{name: "add", group: groupStart, writes: []string{""}, across: []string{""}, make: (*Env).add},
		{name: "import", group: groupStart, common: true, writes: []string{""}, across: []string{""}, make: (*Env).importCommand},
		{name: "hooks", group: groupStart, common: true, writes: []string{"install", "uninstall"}, make: (*Env).hooksCommand},
		{name: "status", group: groupLook, common: true, across: []string{""}, make: (*Env).status},
		{name: "layers", group: groupHidden, bare: "status", make: (*Env).layersCommand},
		{name: "ls", group: groupLook, common: true, across: []string{""}, make: (*Env).ls},
		{name: "next", group: groupLook, common: true, make: (*Env).next},
		{name: "log", group: groupLook, common: true, across: []string{""}, make: (*Env).log},
		{name: "show", group: groupLook, common: true, make: (*Env).show},
		{name: "search", group: groupLook, common: true, across: []string{""}, make: (*Env).search},
		{name: "suggest", group: groupLook, make: (*Env).suggestCommand},
		{name: "diff", group: groupLook, make: (*Env).diff},
		{name: "blame", group: groupLook, make: (*Env).blame},
		{name: "lineage", group: groupHidden, make: (*Env).lineage},
		{name: "why", group: groupLook, make: (*Env).whyCommand},
		{name: "versions", group: groupHidden, make: (*Env).versions},
		{name: "keepit", group: groupLook, bare: "list", writes: []string{"set", "add", "rm"}, across: []string{"list"}, make: (*Env).keepit},
		{name: "facts", group: groupLook, bare: "list", writes: []string{"save", "add", "edit", "confirm", "rm"}, across: []string{"list", "search"}, make: (*Env).facts},
		{name: "concepts", group: groupLook, bare: "list", writes: []string{"assign", "rename", "merge", "split", "rm"}, across: []string{"list"}, make: (*Env).concepts},
		{name: "rules", group: groupLook, bare: "list", writes: []string{"add", "promote", "dismiss", "validate", "contradict", "retire", "review"}, across: []string{"list"}, make: (*Env).rules},
		{name: "reflect", group: groupLook, writes: []string{""}, make: (*Env).reflect},
		{name: "memory", group: groupLook, make: (*Env).memoryPage},
		{name: "serve", group: groupLook, make: (*Env).serve},
		{name: "count", group: groupHidden, make: (*Env).count},
		{name: "cost", group: groupHidden, make: (*Env).cost},
		{name: "stats", group: groupLook, across: []string{""}, make: (*Env).stats},
		{name: "compress", group: groupMake, common: true, writes: []string{""}, make: (*Env).compress},
		{name: "compose", group: groupMake, common: true, writes: []string{""}, make: (*Env).compose},
		{name: "tier", group: groupMake, bare: "status", writes: []string{"run"}, make: (*Env).tier},
		{name: "distill", group: groupMake, writes: []string{""}, make: (*Env).distill},
		{name: "checkout", group: groupMake, writes: []string{""}, make: (*Env).checkout},
		{name: "remote", group: groupShare, writes: []string{"add", "recovery-key", "rm", "set-url", "rename"}, make: (*Env).remote},
		{name: "push", group: groupShare, writes: []string{""}, across: []string{""}, make: (*Env).push},
		{name: "fetch", group: groupShare, writes: []string{""}, across: []string{""}, make: (*Env).fetch},
		{name: "pull", group: groupShare, writes: []string{""}, across: []string{""}, make: (*Env).pull},
		{name: "sync", group: groupShare, common: true, writes: []string{""}, across: []string{""}, make: (*Env).sync},
		{name: "clone", group: groupShare, writes: []string{""}, make: (*Env).clone},
		{name: "device", group: groupShare, writes: []string{"trust", "approve", "drop", "revoke", "rename"}, make: (*Env).device},
		{name: "secrets", group: groupKeep, writes: []string{"allow"}, across: []string{"scan", "list"}, make: (*Env).secrets},
		{name: "export", group: groupMake, writes: []string{""}, make: (*Env).export},
		{name: "revoke", group: groupKeep, writes: []string{""}, across: []string{""}, make: (*Env).revoke},
		{name: "mv", group: groupKeep, writes: []string{""}, make: (*Env).mv},
		{name: "tag", group: groupKeep, writes: []string{""}, make: (*Env).tag},
		{name: "rm", group: groupKeep, writes: []string{""}, make: (*Env).rm},
		{name: "prune", group: groupHidden, writes: []string{""}, make: (*Env).prune},
		{name: "forget", group: groupKeep, writes: []string{""}, across: []string{""}, make: (*Env).forget},
		{name: "undo", group: groupKeep, writes: []string{""}, make: (*Env).undo},
		{name: "redo", group: groupKeep, writes: []string{""}, make: (*Env).redo},
		{name: "op", group: groupHidden, bare: "log", make: (*Env).op},
		{name: "project", group: groupKeep, bare: "list", writes: []string{"link", "unlink", "share"}, make: (*Env).project},
		{name: "gc", group: groupKeep, writes: []string{""}, make: (*Env).gc},
		{name: "doctor", group: groupKeep, writes: []string{""}, make: (*Env).doctor},
		{name: "fsck", alias: "verify", group: groupKeep, writes: []string{""}, across: []string{""}, make: (*Env).fsck},
		{name: "selftest", group: groupKeep, make: (*Env).selftest},
		{name: "cat-file", group: groupPlumbing, plain: true, make: (*Env).catFile},
		{name: "hash-object", group: groupPlumbing, plain: true, make: (*Env).hashObject},
		{name: "ls-objects", group: groupPlumbing, plain: true, across: []string{""}, make: (*Env).lsObjects},
		{name: "rev-parse", group: groupPlumbing, plain: true, make: (*Env).revParse},
		{name: "plugin-path", group: groupPlumbing, plain: true, make: (*Env).pluginPath},
		{name: "mcp", group: groupPlumbing, make: (*Env).mcpCommand},
		{name: "hook", group: groupPlumbing, make: (*Env).hook},
		{name: "token", group: groupHelp, bare: "list", writes: []string{"add", "rm"}, make: (*Env).token},
		{name: "config", group: groupHelp, writes: []string{"set", "unset"}, make: (*Env).config},
		{name: "completion", group: groupHelp, plain: true, make: (*Env).completion},
		{name: "help", group: groupHelp, make: (*Env).help},
		{name: "version", group: groupHelp, plain: true, make: (*Env).version},
		{name: "__complete", group: groupHidden, make: (*Env).complete},
	}
}

// visible returns the names of the commands that may be suggested.
func visible(table []command) []string {
	var names []string
	for _, c := range table {
		if c.group == groupHidden {
			continue
		}
		names = append(names, c.name)
		if c.alias != "" {
			names = append(names, c.alias)
		}
	}
	return names
}
