package app

import (
	"fmt"
	"strconv"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/cli"
)

// The options that every command takes.
type Options struct {
	Dir         string
	MemDir      string
	Project     string
	AllProjects bool
	Set         []string
	Quiet       bool
	Verbose     bool
	NoPager     bool
	Color       string
	JSON        bool
	DryRun      bool
	Yes         bool
	LockTimeout time.Duration // negative: as the settings say
}

// Flags returns the global options. Those of a command that changes nothing lack -n and -y.
func (o *Options) Flags(writes bool) []*cli.Flag {
	flags := []*cli.Flag{
		cli.String(&o.Dir, "C", "run as if started in `DIR`"),
		cli.String(&o.MemDir, "mem-dir", "use the memory in `DIR`"),
		cli.String(&o.Project, "project,p", "work on this `PROJECT`"),
		cli.Bool(&o.AllProjects, "all-projects", "work on every project"),
		cli.Repeated(&o.Set, "c", "use another setting in this run: `KEY=VALUE`"),
		cli.Bool(&o.Quiet, "quiet,q", "print answers and errors, not what was done"),
		cli.Bool(&o.Verbose, "verbose,v", "print more"),
		cli.Bool(&o.NoPager, "no-pager", "do not start a pager"),
		cli.Choice(&o.Color, "color", "use colour: `WHEN` is auto, always or never", "auto", "always", "never").Optional("always"),
		cli.Bool(&o.JSON, "json", "print one JSON object"),
		cli.Parsed(&o.LockTimeout, "lock-timeout", "wait `TIME` for another command to finish writing", ParseWait),
	}
	if writes {
		flags = append(flags, o.Changing()...)
	}
	return flags
}

// Changing returns the options of every command that changes something.
func (o *Options) Changing() []*cli.Flag {
	return []*cli.Flag{
		cli.Bool(&o.DryRun, "dry-run,n", "only print what would be done"),
		cli.Bool(&o.Yes, "yes,y", "do not ask"),
	}
}

// GlobalScope describes the global options to the parser, which learns of each option only when one is used.
func GlobalScope() Scope { return ScopeOf((&Options{}).Flags(true), true) }

// ParseWait reads a time such as 500ms or 10s; a bare number is seconds.
func ParseWait(s string) (time.Duration, error) {
	if n, err := strconv.ParseUint(s, 10, 31); err == nil {
		return time.Duration(n) * time.Second, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("want a time such as 500ms, 10s or 2m")
	}
	return d, nil
}
