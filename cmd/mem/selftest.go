package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/flags"
	"github.com/memvcs/mem/cmd/mem/internal/proof"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/tokens"
)

type selftestOptions struct {
	kill     int
	writers  int
	powercut bool
	attacks  bool
	dir      string
}

// The amount of work of mem selftest: the default takes less than a minute.
const (
	usualKills   = 200
	usualWriters = 16
	perWriter    = 24 // commands
	perStorm     = 8  // concurrent hooks, for each writer
	powerCuts    = 20
	mostKills    = 1_000_000
	mostWriters  = 256
)

// selftest returns mem selftest, which tests memories on the user's own disk with kills and power cuts.
func selftest(e *app.Env) *cli.Command {
	o := selftestOptions{kill: usualKills, writers: usualWriters, attacks: true}
	return &cli.Command{
		Name:  "selftest",
		Usage: "test this disk for data loss under kills, concurrency and power cuts",
		Description: "Creates memories in a temporary directory next to your memory, which is not touched,\n" +
			"runs this program on them and kills it. Fetches forged data of untrusted devices into\n" +
			"one of them. Prints each promise that held, and how often it was checked. Takes less\n" +
			"than a minute by default and leaves nothing behind. The exit status is 1 if a promise\n" +
			"was broken, and 3 if a requested power cut cannot be simulated: that needs Linux, root\n" +
			"and mkfs.ext4.",
		Flags: []cli.Flag{
			flags.Int(&o.kill, "kill", "kill `N` commands of a mixed load at random moments"),
			flags.Int(&o.writers, "writers", "run `N` concurrent writers"),
			flags.Bool(&o.powercut, "powercut", fmt.Sprintf("simulate %d power cuts on a disk image", powerCuts)),
			flags.Bool(&o.attacks, "attacks", "fetch forged data of untrusted devices (the default; --no-attacks skips it)"),
			flags.String(&o.dir, "dir", "test the disk of `DIR`, not that of the memory"),
		},
		Action: e.Action(0, 0, func(c *cli.Context) error {
			switch {
			case o.kill < 0 || o.kill > mostKills:
				return app.Usagef("--kill %d: it is from 0 to %s", o.kill, tokens.Commas(mostKills))
			case o.writers < 0 || o.writers > mostWriters:
				return app.Usagef("--writers %d: it is from 0 to %d", o.writers, mostWriters)
			case o.kill == 0 && o.writers == 0 && !o.powercut && !o.attacks:
				return app.Usagef("there is nothing to try with --kill 0 --writers 0 --no-attacks")
			}
			return runSelftest(c.Context, e, o)
		}),
	}
}

// A selftestAnswer is the JSON form of the results of mem selftest.
type selftestAnswer struct {
	OK       bool            `json:"ok"`
	Dir      string          `json:"dir"`
	Seconds  float64         `json:"seconds"`
	Promises []provedPromise `json:"promises"`
}

type provedPromise struct {
	Promise string `json:"promise"`
	Status  string `json:"status"` // ok, broken, skipped
	Times   int    `json:"times"`
	Of      string `json:"of,omitempty"`
	Why     string `json:"why,omitempty"`
}

// A selftestPart is one part of the self test.
type selftestPart struct {
	about string // named if the part yields no promise
	run   func(context.Context) ([]proof.Promise, error)
}

func runSelftest(ctx context.Context, e *app.Env, o selftestOptions) (err error) {
	begin := e.Uptime()
	bin, err := e.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	on, err := selftestDisk(e, o.dir)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(on, ".mem-selftest-")
	if err != nil {
		return fmt.Errorf("make a directory to try the disk in: %w", err)
	}
	defer func() { err = errors.Join(err, proof.RemoveAll(dir)) }()
	r := &proof.Rig{Bin: bin, Dir: dir, Path: e.Getenv("PATH"), Now: e.Now, Uptime: e.Uptime,
		Seed: uint64(e.Now().UnixNano())}
	if e.Opt.Verbose {
		r.Note = e.Note
	}
	e.Note("trying the disk of %s", on)
	answer := selftestAnswer{OK: true, Dir: on, Promises: []provedPromise{}}
	some := false
	for _, t := range selftestParts(r, o) {
		all, err := t.run(ctx)
		var broken *proof.Broken
		var skipped *proof.Skipped
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.As(err, &skipped):
			some = true
			all = nil
			answer.add(e, provedPromise{Promise: t.about, Status: "skipped", Why: skipped.Why})
		case errors.As(err, &broken):
			all = nil
			answer.OK = false
			answer.add(e, provedPromise{Promise: t.about, Status: "broken", Why: err.Error()})
		case err != nil:
			return err
		}
		for _, p := range all {
			if p.Why != "" {
				answer.OK = false
				answer.add(e, provedPromise{Promise: p.What, Status: "broken", Why: p.Why})
				continue
			}
			answer.add(e, provedPromise{Promise: p.What, Status: "ok", Times: p.Times, Of: p.Of})
		}
	}
	answer.Seconds = float64((e.Uptime() - begin).Round(100*time.Millisecond)) / float64(time.Second)
	return endSelftest(e, answer, some)
}

// selftestParts returns the requested parts of the self test.
func selftestParts(r *proof.Rig, o selftestOptions) []selftestPart {
	var all []selftestPart
	if o.kill > 0 {
		all = append(all, selftestPart{"kill -9", func(ctx context.Context) ([]proof.Promise, error) {
			return r.Kills(ctx, o.kill)
		}})
	}
	if o.writers > 0 {
		all = append(all,
			selftestPart{"concurrent writers", func(ctx context.Context) ([]proof.Promise, error) {
				return r.Writers(ctx, o.writers, perWriter)
			}},
			selftestPart{"hooks at once", func(ctx context.Context) ([]proof.Promise, error) {
				return r.Storm(ctx, perStorm*o.writers)
			}})
	}
	if o.attacks {
		all = append(all, selftestPart{"attacks of untrusted devices", r.Attacks})
	}
	if o.powercut {
		all = append(all, selftestPart{"power cut", func(ctx context.Context) ([]proof.Promise, error) {
			return r.PowerCuts(ctx, powerCuts)
		}})
	}
	return all
}

// selftestDisk returns an existing directory on the disk to test.
func selftestDisk(e *app.Env, dir string) (string, error) {
	if dir != "" {
		return e.Path(dir), nil
	}
	dir, err := e.MemoryDir()
	if err != nil {
		return "", err
	}
	for {
		dir = filepath.Dir(dir)
		if fi, err := os.Stat(dir); err == nil && fi.IsDir() || dir == filepath.Dir(dir) {
			return dir, nil
		}
	}
}

// add records a result and, for people, prints it immediately.
func (a *selftestAnswer) add(e *app.Env, p provedPromise) {
	a.Promises = append(a.Promises, p)
	if e.Opt.JSON {
		return
	}
	switch p.Status {
	case "ok":
		e.Printf("ok       %s: %s %s\n", p.Promise, tokens.Commas(p.Times), p.Of)
	case "skipped":
		e.Printf("skipped  %s: %s\n", p.Promise, e.Safe(p.Why))
	default:
		e.Printf("BROKEN   %s: %s\n", p.Promise, e.Safe(p.Why))
	}
	_ = e.Out.Flush() // that it failed is noticed when the command ends
}

func endSelftest(e *app.Env, a selftestAnswer, skipped bool) error {
	if e.Opt.JSON {
		if err := e.PrintJSON("selftest", a); err != nil {
			return err
		}
	}
	held := 0
	for _, p := range a.Promises {
		if p.Status == "ok" {
			held++
		}
	}
	e.Note("%d promise%s held in %.0f s", held, term.Plural(held), a.Seconds)
	switch {
	case !a.OK:
		return app.Exit(app.ExitNo)
	case skipped:
		return app.Exit(app.ExitPartial)
	}
	return nil
}
