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
	id, name := "", o.device
	m, err := app.OpenMemory(e)
	made = errors.Is(err, refs.ErrNotRepo)
	if err != nil && !e.Opt.DryRun {
		m, err = makeMemory(ctx, e, dir, o.device) // also of what lost its device
	}
	switch {
	case err == nil:
		id, name = m.Repo().Device().ID, m.Repo().Device().Name
		err = m.Close()
	case made:
		err = nil
	}
	if err != nil {
		return false, err
	}
	if given != "" && given != name {
		return false, app.WithHint(fmt.Errorf("the memory in %s exists, and this device is called %s there", dir, name),
			term.Shell("mem", "device", "rename", name, given))
	}
	note := "the memory is in %s already"
	if made {
		note = e.Verb("created", "would create") + " an empty memory in %s"
	}
	return made, e.Did("init", app.Object{"dir", dir, "device", id, "deviceName", name, "created", made}, note, dir)
}

func makeMemory(ctx context.Context, e *app.Env, dir, device string) (*layers.Memory, error) {
	options, err := app.MemoryOptions(e)
	if err != nil {
		return nil, err
	}
	m, err := layers.Init(ctx, dir, device, options)
	if err != nil {
		return nil, fmt.Errorf("make a memory in %s: %w", dir, err)
	}
	return m, nil
}
