package main

import (
	"context"
	"fmt"

	"github.com/memvcs/mem/cmd/mem/internal/cli"
	"github.com/memvcs/mem/layers"
)

type initOptions struct {
	device string
}

// init is the command that makes a memory.
func (e *Env) init() *cli.Command {
	var o initOptions
	return &cli.Command{
		Name:  "init",
		Usage: "create an empty memory; safe to repeat",
		Flags: []*cli.Flag{
			cli.String(&o.device, "device", "call this device `NAME` instead of by its host name"),
		},
		Action: func(ctx context.Context, c *cli.Command) error {
			if err := e.wantOperands(c, 0, 0); err != nil {
				return err
			}
			return e.runInit(ctx, o)
		},
	}
}

// An initAnswer is what init did, as --json prints it.
type initAnswer struct {
	Dir    string `json:"dir"`
	Device string `json:"device"`
	Name   string `json:"device_name"`
	DryRun bool   `json:"dry_run"`
}

func (e *Env) runInit(ctx context.Context, o initOptions) error {
	dir, err := e.memoryDir()
	if err != nil {
		return err
	}
	if o.device == "" {
		if o.device, err = e.Hostname(); err != nil || o.device == "" {
			o.device = "device" // a machine need not have a name
		}
	}
	answer := initAnswer{Dir: dir, Name: o.device, DryRun: e.opt.dryRun}
	if !e.opt.dryRun {
		if err := e.makeMemory(ctx, &answer); err != nil {
			return err
		}
	}
	if e.opt.json {
		return e.printJSON("init", answer)
	}
	verb := "memory is in"
	if e.opt.dryRun {
		verb = "would make a memory in"
	}
	e.note("%s %s", verb, dir)
	return nil
}

func (e *Env) makeMemory(ctx context.Context, answer *initAnswer) error {
	options, err := e.memoryOptions()
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
