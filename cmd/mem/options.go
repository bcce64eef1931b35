package main

import (
	"fmt"
	"strconv"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/cli"
)

// The options that every command takes.
type options struct {
	dir         string
	memDir      string
	project     string
	allProjects bool
	set         []string
	quiet       bool
	verbose     bool
	noPager     bool
	color       string
	json        bool
	dryRun      bool
	yes         bool
	lockTimeout time.Duration // negative: as the settings say
}

// flags returns the global options. Those of a command that changes nothing lack -n and -y.
func (o *options) flags(writes bool) []*cli.Flag {
	flags := []*cli.Flag{
		cli.String(&o.dir, "C", "run as if started in `DIR`"),
		cli.String(&o.memDir, "mem-dir", "use the memory in `DIR`"),
		cli.String(&o.project, "project,p", "work on this `PROJECT`"),
		cli.Bool(&o.allProjects, "all-projects", "work on every project"),
		cli.Repeated(&o.set, "c", "use another setting in this run: `KEY=VALUE`"),
		cli.Bool(&o.quiet, "quiet,q", "print answers and errors, not what was done"),
		cli.Bool(&o.verbose, "verbose,v", "print more"),
		cli.Bool(&o.noPager, "no-pager", "do not start a pager"),
		cli.Choice(&o.color, "color", "use colour: `WHEN` is auto, always or never", "auto", "always", "never").Optional("always"),
		cli.Bool(&o.json, "json", "print one JSON object"),
		cli.Parsed(&o.lockTimeout, "lock-timeout", "wait `TIME` for another command to finish writing", parseWait),
	}
	if writes {
		flags = append(flags, o.changing()...)
	}
	return flags
}

// changing returns the options of every command that changes something.
func (o *options) changing() []*cli.Flag {
	return []*cli.Flag{
		cli.Bool(&o.dryRun, "dry-run,n", "only print what would be done"),
		cli.Bool(&o.yes, "yes,y", "do not ask"),
	}
}

// globalScope describes the global options to the parser, which learns of each option only when one is used.
func globalScope() scope { return scopeOf((&options{}).flags(true), true) }

// parseWait reads a time such as 500ms or 10s; a bare number is seconds.
func parseWait(s string) (time.Duration, error) {
	if n, err := strconv.ParseUint(s, 10, 31); err == nil {
		return time.Duration(n) * time.Second, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("want a time such as 500ms, 10s or 2m")
	}
	return d, nil
}
