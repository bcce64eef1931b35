package storecmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/refs"
)

type InitOptions struct {
	device string
}

// Init returns mem init.
func Init(e *app.Env) *cli.Command {
	var o InitOptions
	return &cli.Command{
		Name:  "init",
		Usage: "create an empty memory; safe to repeat",
		Flags: []cli.Flag{
			app.StringFlag(&o.device, "device", "name this device `NAME`, not after its host"),
		},
		Action: e.Action(0, 0, func(c *cli.Context) error {
			made, err := RunInit(c.Context, e, o)
			if made && !e.Opt.DryRun {
				e.Hint("mem import stores every session that Claude Code still has")
			}
			return err
		}),
	}
}

// An initAnswer is the JSON form of mem init.
type initAnswer struct {
	Dir    string `json:"dir"`
	Device string `json:"device"`
	Name   string `json:"deviceName"`
	Made   bool   `json:"created"` // by this command
	DryRun bool   `json:"dryRun"`
}

// RunInit creates the memory if there is none, and reports whether there was none.
func RunInit(ctx context.Context, e *app.Env, o InitOptions) (made bool, err error) {
	dir, err := e.MemoryDir()
	if err != nil {
		return false, err
	}
	given := o.device
	if o.device == "" {
		if o.device, err = e.Hostname(); err != nil || o.device == "" {
			o.device = "device" // a machine need not have a name
		}
	} else if err := app.CheckDeviceName(o.device); err != nil {
		return false, err
	}
	answer := initAnswer{Dir: dir, Name: o.device, DryRun: e.Opt.DryRun}
	m, err := app.OpenMemory(e)
	answer.Made = errors.Is(err, refs.ErrNotRepo)
	switch {
	case err == nil:
		device := m.Repo().Device()
		answer.Device, answer.Name = device.ID, device.Name
		err = m.Close()
	case !e.Opt.DryRun:
		err = makeMemory(ctx, e, &answer) // also of what lost its device
	case answer.Made:
		err = nil
	}
	if err != nil {
		return false, err
	}
	if given != "" && given != answer.Name {
		return false, app.WithHint(fmt.Errorf("the memory in %s exists, and this device is called %s there", dir, answer.Name),
			term.Shell("mem", "device", "rename", answer.Name, given))
	}
	if e.Opt.JSON {
		return answer.Made, e.PrintJSON("init", answer)
	}
	switch {
	case !answer.Made:
		e.Note("the memory is in %s already", dir)
	case e.Opt.DryRun:
		e.Note("would create an empty memory in %s", dir)
	default:
		e.Note("created an empty memory in %s", dir)
	}
	return answer.Made, nil
}

func makeMemory(ctx context.Context, e *app.Env, answer *initAnswer) error {
	options, err := app.MemoryOptions(e)
	if err != nil {
		return err
	}
	m, err := layers.Init(ctx, answer.Dir, answer.Name, options)
	if err != nil {
		return fmt.Errorf("make a memory in %s: %w", answer.Dir, err)
	}
	device := m.Repo().Device()
	answer.Device, answer.Name = device.ID, device.Name
	return m.Close()
}
