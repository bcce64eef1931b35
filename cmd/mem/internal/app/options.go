package app

import (
	"fmt"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"
)

// Options are the global options of mem.
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
	LockTimeout time.Duration // negative: the setting lock.timeout decides
}

// Flags returns the global flags; -n and -y are included only for commands that write.
func (o *Options) Flags(writes bool) []cli.Flag {
	list := []cli.Flag{
		StringFlag(&o.Dir, "C", "run as if started in `DIR`"),
		StringFlag(&o.MemDir, "mem-dir", "use the memory in `DIR`"),
		StringFlag(&o.Project, "project,p", "work on this `PROJECT`"),
		BoolFlag(&o.AllProjects, "all-projects", "work on every project"),
		RepeatedFlag(&o.Set, "c", "override a setting for this run: `KEY=VALUE`"),
		BoolFlag(&o.Quiet, "quiet,q", "print only answers and errors"),
		BoolFlag(&o.Verbose, "verbose,v", "print more"),
		BoolFlag(&o.NoPager, "no-pager", "do not start a pager"),
		ChoiceFlag(&o.Color, "color", "use colour: `WHEN` is auto, always or never", "auto", "always",
			"never").Optional("always"),
		BoolFlag(&o.JSON, "json", "print one JSON object"),
		ParsedFlag(&o.LockTimeout, "lock-timeout", "wait `TIME` for another command to finish writing", ParseWait),
	}
	if writes {
		list = append(list, o.Changing()...)
	}
	return list
}

// Changing returns the global flags of commands that write: -n and -y.
func (o *Options) Changing() []cli.Flag {
	return []cli.Flag{
		BoolFlag(&o.DryRun, "dry-run,n", "only print what would be done"),
		BoolFlag(&o.Yes, "yes,y", "do not ask"),
	}
}

// GlobalOptions returns the global options for the parser.
func GlobalOptions() OptionSet { return OptionsOf((&Options{}).Flags(true), true) }

// ParseWait parses a duration such as 500ms or 10s; a bare number is in seconds.
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
