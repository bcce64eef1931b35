package remotecmd

import (
	"context"
	"errors"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
)

// errDeclined is the error if the user answers no.
var errDeclined = errors.New("declined")

// deviceDrop returns mem device drop.
func deviceDrop(e *app.Env) *cli.Command {
	return &cli.Command{
		Name:      "drop",
		Usage:     "remove a device's data from this memory and stop fetching it",
		ArgsUsage: "<device>",
		Description: "Stops trusting the device, deletes its branches with the bytes that only they contain,\n" +
			"and excludes it from every fetch. Your own versions and compositions of its sessions\n" +
			"stay. Remotes and other machines keep the data: \"mem device trust\" and \"mem pull\"\n" +
			"restore it.",
		Action: deviceAction(e, deviceChange{do: func(ctx context.Context, o *state.DB, d state.Device) error {
			return dropDevice(ctx, e, o, d)
		}, done: "dropped"}),
	}
}

func dropDevice(ctx context.Context, e *app.Env, o *state.DB, d state.Device) error {
	if d.Trusted && !d.Own || e.Term.Stdin { // a script may drop what it never used
		if ok, err := e.Confirm("remove the data of device %s in %s?", d.Name,
			term.Count(d.Projects, "project")); err != nil {
			return err
		} else if !ok {
			return errDeclined
		}
	}
	return trust.DropDevice(ctx, o, d)
}
