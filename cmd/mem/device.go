package main

import (
	"context"
	"errors"

	"github.com/memvcs/mem/cmd/mem/internal/cli"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/devices"
	"github.com/memvcs/mem/layers/state"
)

// device is the command about the installations of mem that wrote in this memory.
func (e *Env) device() *cli.Command {
	list := func(ctx context.Context, c *cli.Command) error {
		if err := e.wantOperands(c, 0, 0); err != nil {
			return err
		}
		return e.runDeviceList(ctx)
	}
	named := func(find func(*layers.Memory, context.Context, string) (state.Device, error), verb string, f func(context.Context, *layers.Memory, state.Device) error) func(context.Context, *cli.Command) error {
		return func(ctx context.Context, c *cli.Command) error {
			if err := e.wantOperands(c, 1, 1); err != nil {
				return err
			}
			return e.runDevice(ctx, e.operand(0), find, verb, f)
		}
	}
	return &cli.Command{
		Name:  "device",
		Usage: "list devices and manage trust",
		Description: "Every installation of mem has an id, a name and a key with which it signs. What a device wrote that you do not trust is\n" +
			"shown, and never put into a session or promoted. Compare fingerprints: \"mem device list\" on both machines.",
		Action: list,
		Commands: []*cli.Command{
			{Name: "list", Usage: "list the devices", Action: list},
			{Name: "trust", Usage: "trust a device and use its data", ArgsUsage: "<device>", Action: named(func(m *layers.Memory, ctx context.Context, name string) (state.Device, error) {
				return m.Devices().Device(ctx, name)
			}, "trusted", func(ctx context.Context, m *layers.Memory, d state.Device) error {
				return m.Devices().TrustDevice(ctx, d, true)
			})},
			{Name: "revoke", Usage: "stop trusting a device; it cannot read later pushes to encrypted remotes", ArgsUsage: "<device>", Action: named(func(m *layers.Memory, ctx context.Context, name string) (state.Device, error) {
				return m.Devices().Reader(ctx, name)
			}, "not trusted any more", func(ctx context.Context, m *layers.Memory, d state.Device) error {
				return m.Devices().TrustDevice(ctx, d, false)
			})},
			e.deviceDrop(),
			e.deviceApprove(),
			{Name: "rename", Usage: "rename a device", ArgsUsage: "<device> <name>", Action: func(ctx context.Context, c *cli.Command) error {
				if err := e.wantOperands(c, 2, 2); err != nil {
					return err
				}
				name := e.operand(1)
				return e.runDevice(ctx, e.operand(0), func(m *layers.Memory, ctx context.Context, name string) (state.Device, error) {
					return m.Devices().Device(ctx, name)
				}, "called "+name, func(ctx context.Context, m *layers.Memory, d state.Device) error {
					return m.Devices().RenameDevice(ctx, d, name)
				})
			}},
		},
	}
}

func (e *Env) runDeviceList(ctx context.Context) error {
	m, err := e.memory()
	if err != nil {
		return err
	}
	defer m.Close()
	devices, err := m.Devices().Devices(ctx)
	if err != nil {
		return err
	}
	if e.opt.json {
		return e.printJSON("device.list", struct {
			Devices []state.Device `json:"devices"`
		}{devices})
	}
	t := e.table(column{name: ""}, column{name: "device", shrinks: true}, column{name: "id"}, column{name: "trusted"}, column{name: "last"}, column{name: "fingerprint"})
	for _, d := range devices {
		mark, trusted := cell{short: " "}, cell{full: "no", paint: e.style().yellow}
		if d.Own {
			mark = cell{full: "*", paint: e.style().green}
		}
		switch {
		case d.Trusted:
			trusted = cell{full: "yes"}
		case d.Dropped:
			trusted = cell{full: "dropped", paint: e.style().yellow}
		}
		last := cell{full: "never"}
		if !d.Last.IsZero() {
			last = cell{full: d.Last.UTC().Format("2006-01-02T15:04:05Z"), short: ago(e.Now(), d.Last)}
		}
		t.row(mark, cell{full: d.Name}, cell{full: d.ID, short: d.ID[:8]}, trusted, last, cell{full: d.Fingerprint})
	}
	return t.flush()
}

// runDevice does something with the device of a name.
func (e *Env) runDevice(ctx context.Context, name string, find func(*layers.Memory, context.Context, string) (state.Device, error), verb string, f func(context.Context, *layers.Memory, state.Device) error) error {
	m, err := e.memory()
	if err != nil {
		return err
	}
	defer m.Close()
	d, err := find(m, ctx, name)
	if err != nil {
		return withHint(err, "mem device list")
	}
	if !e.opt.dryRun {
		if err := f(ctx, m, d); errors.Is(err, errDeclined) {
			return nil
		} else if errors.Is(err, devices.ErrOwnDevice) {
			return withHint(usagef("%s: %v", d.Name, err), "mem device list")
		} else if err != nil {
			return err
		}
	}
	if e.opt.json {
		return e.printJSON("device", struct {
			ID     string `json:"id"`
			Name   string `json:"name"`
			DryRun bool   `json:"dry_run"`
		}{d.ID, d.Name, e.opt.dryRun})
	}
	would := "is"
	if e.opt.dryRun {
		would = "would be"
	}
	e.note("device %s (%s) %s %s", d.Name, d.ID[:8], would, verb)
	return nil
}
