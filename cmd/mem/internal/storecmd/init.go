package storecmd

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/flags"
	"github.com/memvcs/mem/cmd/mem/internal/memory"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers"
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
			flags.String(&o.device, "device", "name this device `NAME`, not after its host"),
		},
		Action: e.Action(0, 0, func(c *cli.Context) error {
			return RunInit(c.Context, e, o)
		}),
	}
}

// An initAnswer is the JSON form of mem init.
type initAnswer struct {
	Dir    string `json:"dir"`
	Device string `json:"device"`
	Name   string `json:"deviceName"`
	DryRun bool   `json:"dryRun"`
}

func RunInit(ctx context.Context, e *app.Env, o InitOptions) error {
	dir, err := e.MemoryDir()
	if err != nil {
		return err
	}
	given := o.device
	if o.device == "" {
		if o.device, err = e.Hostname(); err != nil || o.device == "" {
			o.device = "device" // a machine need not have a name
		}
	} else if err := memory.CheckDeviceName(o.device); err != nil {
		return err
	}
	answer := initAnswer{Dir: dir, Name: o.device, DryRun: e.Opt.DryRun}
	if !e.Opt.DryRun {
		if err := makeMemory(ctx, e, &answer); err != nil {
			return err
		}
	}
	if given != "" && given != answer.Name {
		return app.WithHint(fmt.Errorf("the memory in %s exists, and this device is called %s there", dir, answer.Name),
			term.Shell("mem", "device", "rename", answer.Name, given))
	}
	if e.Opt.JSON {
		return e.PrintJSON("init", answer)
	}
	verb := "memory is in"
	if e.Opt.DryRun {
		verb = "would make a memory in"
	}
	e.Note("%s %s", verb, dir)
	return nil
}

func makeMemory(ctx context.Context, e *app.Env, answer *initAnswer) error {
	options, err := memory.MemoryOptions(e)
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
