package storecmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/hooks"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/repair"
	"github.com/memvcs/mem/refs/config"
	refsrepair "github.com/memvcs/mem/refs/repair"
)

// runRepair repairs the store. The exit status is 0 if everything is intact afterwards, else 3; with -n it is 1 if
// there is something to repair.
func runRepair(ctx context.Context, e *app.Env, fo fsckOptions) error {
	dir, err := e.MemoryDir()
	if err != nil {
		return err
	}
	var small []refsrepair.Fix
	if err := smallFiles(ctx, e, dir, e.Opt.DryRun, func(m refsrepair.Fix) { small = append(small, m) }); err != nil {
		return err
	}
	o, err := app.MemoryOptions(e)
	if err != nil {
		return err
	}
	var unasked []error
	out, err := repair.Repair(ctx, dir, o, repair.RepairOptions{Remote: fo.remote, DryRun: e.Opt.DryRun, Forget: fo.forget,
		Unreachable: func(name string, err error) {
			e.Warn("%s could not be asked: %v", name, err)
			unasked = append(unasked, err)
		}})
	if err != nil {
		return fmt.Errorf("repair: %w", err)
	}
	out.Fixes = append(small, out.Fixes...)
	if err := printRepair(e, out); err != nil {
		return err
	}
	left := unwhole(out)
	for _, m := range out.Fixes {
		left = left || m.Done == "" || m.Done == settingsGone
	}
	switch {
	case e.Opt.DryRun && len(out.Fixes)+len(out.Lost) > 0:
		return app.Exit(app.ExitNo)
	case fo.forget && out.Stuck && !out.GivenUp:
		e.Hint("mem remote rm NAME, if that remote is lost permanently: its data was not given up")
		return app.Exit(app.ExitPartial)
	case out.Unsealed:
		e.Warn(
			"forgotten.json lists what must not be captured again, and only this device has it: " +
				"until it is repaired, nothing is captured")
		e.Hint(
			"mem fsck --repair --forget continues without its lost entries. " +
				"Forgotten messages stay out; forgotten values, and files of " +
				"tool results, come in again from the files that Claude Code still has: delete those first")
		return app.Exit(app.ExitPartial)
	case left && out.GivenUp:
		e.Hint("mem import, for what Claude Code still has; mem forget SESSION, if it is lost permanently")
		return app.Exit(app.ExitPartial)
	case left:
		if len(unasked) == 0 && !e.Opt.DryRun {
			e.Hint("mem fsck --repair --remote NAME, if another remote has it" + forgetLost(out))
		}
		return app.Exit(app.ExitPartial)
	}
	return nil
}

// unwhole reports whether something is damaged, or lost and not given up.
func unwhole(out repair.Repaired) bool { return len(out.Left) > 0 || len(out.Lost) > 0 && !out.GivenUp }

// forgetLost returns the hint for permanent losses that block pushes: a directory, or parts of a session.
func forgetLost(out repair.Repaired) string {
	if out.Stuck && !out.GivenUp {
		return "; mem fsck --repair --forget, if it is lost for good: everything else continues"
	}
	for _, l := range out.Lost {
		if l.Session != "" && l.From > 0 {
			return "; mem forget " + records.ShortID(l.Session) +
				", if it is lost permanently: then the rest of the project can be pushed"
		}
	}
	return ""
}

func printRepair(e *app.Env, out repair.Repaired) error {
	if e.Opt.JSON {
		ok := !unwhole(out)
		for _, m := range out.Fixes {
			ok = ok && m.Done != "" && !e.Opt.DryRun
		}
		return e.PrintJSON("fsck.repair", nil, "ok", ok, "dryRun", e.Opt.DryRun, "repaired", append([]refsrepair.Fix{}, out.Fixes...),
			"lost", append([]repair.LostData{}, out.Lost...), "problems", append([]refsrepair.Problem{}, out.Left...),
			"roots", append([]repair.Root{}, out.Roots...))
	}
	if len(out.Fixes) == 0 && len(out.Lost) == 0 && len(out.Left) == 0 {
		e.Note("nothing is damaged")
	}
	for _, m := range out.Fixes {
		done := m.Done
		switch {
		case done == "":
			done = "it cannot be repaired here"
		case e.Opt.DryRun:
			done = "would be repaired: " + done
		}
		e.Printf("%s: %s: %s\n", e.Safe(m.Where), e.Safe(m.What), e.Safe(done))
		if m.Kept != "" && !e.Opt.DryRun {
			e.Printf("    the damaged file is kept as %s\n", e.Safe(m.Kept))
		}
	}
	word := e.Verb("lost", "missing here")
	for _, l := range out.Lost {
		e.Printf("%s: %s\n", word, e.Safe(lostText(l)))
	}
	for _, p := range out.Left {
		e.Message("%s %s: %s", e.StderrStyle().Red("problem:"), p.Where, p.What)
	}
	for _, r := range out.Roots {
		e.Printf("root %s  %s\n", r.Hash, e.Safe(r.Name))
	}
	return nil
}

func lostText(l repair.LostData) string {
	s := "[" + l.Project + "] "
	if l.Session != "" {
		s += "session " + records.ShortID(l.Session) + ", "
	}
	if l.From > 0 {
		s += fmt.Sprintf("messages %d to %d: ", l.From, l.To)
	}
	return s + l.What
}

// smallFiles checks the settings and the notes of hooks, and repairs them unless it is a dry run.
func smallFiles(ctx context.Context, e *app.Env, dir string, look bool, found func(refsrepair.Fix)) error {
	file := filepath.Join(dir, "config.json")
	wait, err := app.LockTimeout(e)
	if err != nil {
		wait = 10 * time.Second // the settings cannot be read
	}
	ctx, cancel := context.WithTimeout(ctx, max(wait, time.Millisecond))
	defer cancel()
	err = config.Damaged(ctx, file, func(damage error) error {
		m, err := mendSettings(dir, file, damage, look)
		if err == nil {
			found(m)
		}
		return err
	})
	if err != nil {
		return err
	}
	return hooks.DamagedNotes(dir, func(name string, damage error) {
		m := refsrepair.Fix{Where: "spool/" + name, What: damage.Error(), Done: "removed; SessionStart captures its session"}
		path := filepath.Join(dir, "spool", name)
		if !look {
			kept, err := refsrepair.SetAside(path, filepath.Join(dir, "damaged", "spool"))
			if err == nil {
				err = os.Remove(path)
			}
			if kept != "" {
				m.Kept = filepath.Join("damaged", "spool", kept)
			}
			if err != nil {
				m.Done, m.Kept = "", ""
			}
		}
		found(m)
	})
}

const settingsGone = "removed; the defaults apply until you set them again"

func mendSettings(dir, file string, damage error, look bool) (refsrepair.Fix, error) {
	m := refsrepair.Fix{Where: "config.json", What: damage.Error()}
	if !errors.Is(damage, config.ErrSum) {
		return m, nil
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return m, err
	}
	m.Done = "accepted, with a new checksum: mem config list"
	if _, err = config.Parse(b); err != nil {
		m.Done = settingsGone
	}
	if look {
		return m, nil
	}
	kept, err := refsrepair.SetAside(file, filepath.Join(dir, "damaged"))
	if err != nil {
		return m, err
	}
	if kept != "" {
		m.Kept = filepath.Join("damaged", kept)
	}
	if m.Done == settingsGone {
		return m, errors.Join(os.Remove(file), os.Remove(file+".sum"))
	}
	return m, config.Replace(file, b)
}
