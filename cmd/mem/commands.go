package main

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/cmdline"
	"github.com/memvcs/mem/cmd/mem/internal/doctor"
	"github.com/memvcs/mem/cmd/mem/internal/exportcmd"
	"github.com/memvcs/mem/cmd/mem/internal/forgetcmd"
	"github.com/memvcs/mem/cmd/mem/internal/historycmd"
	"github.com/memvcs/mem/cmd/mem/internal/hookcmd"
	"github.com/memvcs/mem/cmd/mem/internal/knowledgecmd"
	"github.com/memvcs/mem/cmd/mem/internal/mcpcmd"
	"github.com/memvcs/mem/cmd/mem/internal/remotecmd"
	"github.com/memvcs/mem/cmd/mem/internal/searchcmd"
	"github.com/memvcs/mem/cmd/mem/internal/sessioncmd"
	"github.com/memvcs/mem/cmd/mem/internal/storecmd"
	"github.com/memvcs/mem/cmd/mem/internal/versioncmd"
	"github.com/memvcs/mem/cmd/mem/internal/web"
)

// A command is one row of the table of commands.
type command struct {
	name   string
	alias  string
	group  group
	writes []string // subcommands that write and so accept -n and -y; "" is the command itself
	across []string // subcommands that accept --all-projects; "" is the command itself
	plain  bool     // only prints: an interrupt kills it
	bare   string   // the default subcommand, of a command that does nothing itself
	common bool     // listed by "mem help"
	under  string   // the command whose row in "mem help -a" names it, and whose help lists it
	make   func(*app.Env) *cli.Command
}

// accepts returns which global options the command at path accepts. Path starts with the name of c.
func (c command) accepts(path []string) cmdline.Accepts {
	if len(path) == 0 {
		return cmdline.Accepts{}
	}
	sub := strings.Join(path[1:], " ")
	return cmdline.Accepts{
		Writes:      slices.Contains(c.writes, sub),
		AllProjects: slices.Contains(c.across, sub) || c.name == "help",
	}
}

// build returns the command for urfave/cli.
func (c command) build(e *app.Env) *cli.Command {
	made := c.make(e)
	made.Category, made.Hidden = string(c.group), c.group == groupHidden
	if c.alias != "" {
		made.Aliases = []string{c.alias}
	}
	return made
}

// A group is a heading of "mem help".
type group string

const (
	groupStart    group = "start"
	groupLook     group = "inspect"
	groupMake     group = "compose"
	groupShare    group = "sync"
	groupKeep     group = "maintain"
	groupHelp     group = "settings"
	groupPlumbing group = "plumbing"
	groupHidden   group = "" // not listed: options of other commands do the same
)

func groups() []group {
	return []group{groupStart, groupLook, groupMake, groupShare, groupKeep, groupHelp, groupPlumbing}
}

// commands returns the table of commands, in the order of "mem help". Only the command that runs is built.
func commands() []command {
	return []command{
		{name: "init", group: groupStart, common: true, writes: []string{""}, make: storecmd.Init},
		{name: "demo", group: groupStart, make: demoCommand},
		{name: "add", under: "import", group: groupStart, writes: []string{""}, across: []string{""}, make: sessioncmd.Add},
		{name: "import", group: groupStart, common: true, writes: []string{""}, across: []string{""},
			make: func(e *app.Env) *cli.Command { return sessioncmd.ImportCommand(e, remotecmd.ReadArchive) }},
		{name: "hooks", group: groupStart, common: true, bare: "status", writes: []string{"install", "uninstall"},
			make: hookcmd.HooksCommand},

		{name: "status", group: groupLook, common: true, across: []string{""}, make: sessioncmd.Status},
		{name: "layers", group: groupHidden, bare: "status", make: knowledgecmd.LayersCommand},
		{name: "ls", group: groupLook, common: true, across: []string{""}, make: sessioncmd.Ls},
		{name: "next", group: groupLook, common: true, writes: []string{""}, make: versioncmd.Next},
		{name: "log", group: groupLook, common: true, across: []string{""}, make: historycmd.Log},
		{name: "show", group: groupLook, common: true, across: []string{""}, make: sessioncmd.Show},
		{name: "search", group: groupLook, common: true, across: []string{""}, make: searchcmd.Search},
		{name: "suggest", under: "search", group: groupLook, make: searchcmd.Suggest},
		{name: "diff", group: groupLook, across: []string{""}, make: historycmd.Diff},
		{name: "blame", group: groupLook, across: []string{""}, make: historycmd.Blame},
		{name: "why", under: "blame", group: groupLook, across: []string{""}, make: historycmd.WhyCommand},
		{name: "versions", group: groupHidden, make: versioncmd.Versions},
		{name: "keepit", group: groupLook, common: true, bare: "list", writes: []string{"set", "add", "rm"}, across: []string{"list"},
			make: versioncmd.Keepit},
		{name: "facts", group: groupLook, bare: "list", writes: []string{"save", "add", "edit", "confirm", "rm", "verify"},
			across: []string{"list", "search"}, make: knowledgecmd.Facts},
		{name: "concepts", under: "facts", group: groupLook, bare: "list", writes: []string{"assign", "rename", "merge", "split", "rm"},
			across: []string{"list"}, make: knowledgecmd.Concepts},
		{name: "notes", group: groupLook, common: true, bare: "list", writes: []string{"restore", "forget"}, make: knowledgecmd.Notes},
		{name: "rules", group: groupLook, common: true, bare: "list", writes: []string{"add", "promote", "dismiss", "validate",
			"contradict", "retire", "review"}, across: []string{"list"}, make: knowledgecmd.Rules},
		{name: "reflect", under: "facts", group: groupLook, writes: []string{""}, make: knowledgecmd.Reflect},
		{name: "memory", under: "facts", group: groupLook, make: knowledgecmd.MemoryPage},
		{name: "serve", group: groupLook, common: true, make: web.Serve},
		{name: "count", group: groupHidden, make: storecmd.Count},
		{name: "cost", group: groupHidden, across: []string{""}, make: storecmd.Cost},
		{name: "stats", group: groupLook, common: true, across: []string{""}, make: storecmd.Stats},

		{name: "compress", group: groupMake, common: true, writes: []string{""}, across: []string{""},
			make: versioncmd.Compress},
		{name: "compose", group: groupMake, common: true, writes: []string{""}, across: []string{""},
			make: versioncmd.Compose},
		{name: "tier", under: "compress", group: groupMake, bare: "status", writes: []string{"run"}, make: versioncmd.Tier},
		{name: "distill", under: "facts", group: groupMake, writes: []string{""}, make: knowledgecmd.Distill},
		{name: "resume", group: groupMake, common: true, writes: []string{""}, make: exportcmd.Resume},
		{name: "checkout", group: groupMake, common: true, writes: []string{""}, across: []string{""}, make: exportcmd.Checkout},

		{name: "remote", group: groupShare, writes: []string{"add", "recovery-key", "rm", "set-url", "rename"},
			make: remotecmd.Remote},
		{name: "push", group: groupShare, common: true, writes: []string{""}, across: []string{""}, make: remotecmd.Push},
		{name: "fetch", under: "pull", group: groupShare, writes: []string{""}, across: []string{""}, make: remotecmd.Fetch},
		{name: "pull", group: groupShare, common: true, writes: []string{""}, across: []string{""}, make: remotecmd.Pull},
		{name: "sync", under: "pull", group: groupShare, common: true, writes: []string{""}, across: []string{""}, make: remotecmd.Sync},
		{name: "clone", group: groupShare, common: true, writes: []string{""}, make: remotecmd.Clone},
		{name: "device", group: groupShare, common: true, writes: []string{"trust", "approve", "drop", "revoke", "rename"},
			make: remotecmd.Device},

		{name: "secrets", group: groupKeep, bare: "list", writes: []string{"allow"}, across: []string{"scan", "list"},
			make: storecmd.Secrets},
		{name: "export", group: groupMake, writes: []string{""}, make: exportcmd.Export},
		{name: "revoke", under: "device", group: groupKeep, writes: []string{""}, across: []string{""}, make: remotecmd.Revoke},
		{name: "mv", group: groupKeep, writes: []string{""}, make: sessioncmd.Mv},
		{name: "tag", under: "mv", group: groupKeep, writes: []string{""}, make: sessioncmd.Tag},
		{name: "rm", group: groupKeep, common: true, writes: []string{""}, make: sessioncmd.Rm},
		{name: "prune", group: groupHidden, writes: []string{""}, make: versioncmd.Prune},
		{name: "forget", group: groupKeep, common: true, writes: []string{""}, across: []string{""}, make: forgetcmd.Forget},
		{name: "undo", group: groupKeep, common: true, writes: []string{""}, make: historycmd.Undo},
		{name: "redo", under: "undo", group: groupKeep, writes: []string{""}, make: historycmd.Redo},
		{name: "op", group: groupHidden, bare: "log", make: historycmd.Op},
		{name: "project", group: groupKeep, bare: "list", writes: []string{"link", "unlink", "merge", "split", "relate", "share"},
			make: sessioncmd.Project},
		{name: "gc", under: "doctor", group: groupKeep, writes: []string{""}, make: storecmd.Gc},
		{name: "doctor", group: groupKeep, writes: []string{""}, make: doctor.Doctor},
		{name: "fsck", alias: "verify", under: "doctor", group: groupKeep, writes: []string{""}, across: []string{""}, make: storecmd.Fsck},

		{name: "cat-file", group: groupPlumbing, plain: true, make: storecmd.CatFile},
		{name: "hash-object", group: groupPlumbing, plain: true, make: storecmd.HashObject},
		{name: "ls-objects", group: groupPlumbing, plain: true, across: []string{""}, make: storecmd.LsObjects},
		{name: "rev-parse", group: groupPlumbing, plain: true, make: storecmd.RevParse},
		{name: "plugin-path", group: groupPlumbing, plain: true, make: hookcmd.PluginPath},
		{name: "mcp", group: groupPlumbing, make: mcpcmd.Command},
		{name: "hook", group: groupPlumbing, make: hookcmd.Hook},

		{name: "token", under: "serve", group: groupHelp, bare: "list", writes: []string{"add", "rm"}, make: web.Token},
		{name: "config", group: groupHelp, writes: []string{"", "set", "unset"}, make: storecmd.Config},
		{name: "completion", under: "help", group: groupHelp, plain: true, make: completion},
		{name: "help", group: groupHelp, make: help},
		{name: "version", under: "help", group: groupHelp, plain: true, make: version},
		{name: "__complete", group: groupHidden, make: complete},
	}
}

// find returns the command of the table with the name or alias, nil if there is none.
func find(table []command, name string) *command {
	i := slices.IndexFunc(table, func(c command) bool { return c.name == name || name != "" && c.alias == name })
	if i < 0 {
		return nil
	}
	return &table[i]
}

// visible returns the names and aliases of the commands that are not hidden.
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
