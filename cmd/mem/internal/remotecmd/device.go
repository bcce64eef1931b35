package remotecmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/forgetcmd"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/sync"
	"github.com/memvcs/mem/layers/trust"
)

// Device returns mem device.
func Device(e *app.Env) *cli.Command {
	list := app.StoreAction(e, 0, 0, runDeviceList)
	return &cli.Command{
		Name:  "device",
		Usage: "list devices and manage trust",
		Description: "Every installation of mem is a device with an id, a name and a signing key. Data of an\n" +
			"untrusted device is put aside: the list counts it, and nothing else reads it. Before you\n" +
			"trust a device, compare the fingerprints that \"mem device list\" prints on both machines;\n" +
			"they are the same, or the data is not of that machine. trust asks, unless --yes is given.",
		Action: list,
		Subcommands: []*cli.Command{
			{Name: "list", Usage: "list the devices", Action: list},
			{Name: "trust", Usage: "trust a device and use its data", ArgsUsage: "<device>",
				Action: deviceAction(e, deviceChange{trusts: true, do: func(ctx context.Context, o *state.DB, d state.Device) error {
					return trustDevice(ctx, e, o, d)
				}, done: "trusted"})},
			{Name: "revoke", Usage: "stop trusting a device; it cannot read later pushes to encrypted remotes",
				ArgsUsage: "<device>",
				Action: deviceAction(e, deviceChange{readers: true, do: func(ctx context.Context, o *state.DB, d state.Device) error {
					return trust.TrustDevice(ctx, o, d, false)
				}, done: "not trusted any more"})},
			deviceDrop(e),
			deviceApprove(e),
			{Name: "rename", Usage: "rename a device", ArgsUsage: "<device> <name>",
				Action: app.StoreAction(e, 2, 2, func(ctx context.Context, run app.Run) error {
					name := e.Operand(1)
					if err := app.CheckDeviceName(name); err != nil {
						return err
					}
					rename := func(ctx context.Context, o *state.DB, d state.Device) error {
						return trust.RenameDevice(ctx, o, d, name)
					}
					return runDevice(ctx, run, deviceChange{do: rename, done: "called " + name})
				})},
		},
	}
}

func runDeviceList(ctx context.Context, run app.Run) error {
	e := run.Env
	list, err := trust.Waiting(ctx, run.DB)
	if err != nil {
		return err
	}
	if e.Opt.JSON {
		return e.PrintJSON("device.list", nil, "devices", list)
	}
	t := e.Table("", app.Column{Name: "device", Shrinks: true}, "id", "trusted", "last",
		app.Column{Name: "fingerprint", Script: true}, "waiting")
	for _, d := range list {
		mark, trusted := app.Cell{Short: " "}, app.Cell{Full: "no", Paint: e.Style().Yellow}
		if d.Own {
			mark = app.Cell{Full: "*", Paint: e.Style().Green}
		}
		switch {
		case d.Trusted:
			trusted = app.Cell{Full: "yes"}
		case d.Dropped:
			trusted = app.Cell{Full: "dropped", Paint: e.Style().Yellow}
		}
		last := app.Cell{Full: "never"}
		if !d.Last.IsZero() {
			last = app.Cell{Full: d.Last.UTC().Format("2006-01-02T15:04:05Z"), Short: app.Ago(e.Now(), d.Last)}
		}
		id := app.Cell{Full: d.ID, Short: d.ID[:8]}
		t.Row(mark, d.Name, id, trusted, last, d.Fingerprint, waitingCell(d.Waiting))
		// One that is cut cannot be compared: for people it has a line of its own.
		t.Below(cmp.Or(d.Fingerprint, "no fingerprint"))
		t.Below(strings.TrimPrefix(calledText(d), ", "))
	}
	return t.Flush()
}

// waitingCell returns the number of sessions and projects that wait, and their size.
func waitingCell(w *state.Waiting) string {
	if w == nil {
		return ""
	}
	return fmt.Sprintf("%s in %s, %s", term.Count(w.Sessions, "session"), term.Count(w.Projects, "project"),
		app.BytesText(w.Bytes))
}

// calledText returns the name that a device has for itself, if it has another one here.
func calledText(d state.Device) string { return app.If(d.OwnName != "", ", calls itself "+d.OwnName) }

// trustDevice trusts a device and prints what is forgotten then. It shows whose data that is, and asks first.
func trustDevice(ctx context.Context, e *app.Env, o *state.DB, d state.Device) error {
	trusted := func() error {
		forgotten, err := sync.Trust(ctx, o, d)
		if !e.Opt.JSON {
			forgetcmd.PrintHeeded(e, forgotten)
		}
		return err
	}
	if d.Own || d.Trusted || e.Opt.Yes {
		return trusted()
	}
	list, err := trust.Waiting(ctx, o)
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(list, func(w state.Device) bool { return w.ID == d.ID }); i >= 0 {
		d = list[i]
	}
	e.Message("device:      %s%s", d.Name, calledText(d))
	e.Message("id:          %s", d.ID)
	e.Message("fingerprint: %s", cmp.Or(d.Fingerprint, "unknown"))
	e.Message("waiting:     %s", cmp.Or(waitingCell(d.Waiting), "nothing"))
	e.Message("\"mem device list\" on that machine prints the same fingerprint, or do not trust it.")
	if ok, err := e.Ask("trust device %s?", d.Name); err != nil {
		return err
	} else if !ok {
		e.Note("nothing changed")
		return errDeclined
	}
	return trusted()
}

// A deviceChange is the action of a subcommand on a device.
type deviceChange struct {
	trusts  bool // the device is trusted then
	readers bool // the name may be that of a reader of encrypted remotes
	do      func(ctx context.Context, o *state.DB, d state.Device) error
	done    string // what the device is then
}

// deviceAction returns the action of a subcommand that applies a change to the named device.
func deviceAction(e *app.Env, change deviceChange) cli.ActionFunc {
	return app.StoreAction(e, 1, 1, func(ctx context.Context, run app.Run) error { return runDevice(ctx, run, change) })
}

func runDevice(ctx context.Context, run app.Run, change deviceChange) error {
	find := trust.Device
	if change.readers {
		find = trust.Reader
	}
	d, err := find(ctx, run.DB, run.Operand(0))
	if err != nil {
		return app.WithHint(err, "mem device list")
	}
	if !run.Opt.DryRun {
		if err := change.do(ctx, run.DB, d); errors.Is(err, errDeclined) {
			return nil
		} else if errors.Is(err, trust.ErrOwnDevice) {
			return app.WithHint(app.Usagef("%s: %v%s", d.Name, err, othersCalled(ctx, run, d.Name)), "mem device list")
		} else if err != nil {
			return err
		}
	}
	if err := run.Did("device", app.Object{"id", d.ID, "name", d.Name}, "device %s (%s) %s %s", d.Name, d.ID[:8],
		run.Verb("is", "would be"), change.done); err != nil {
		return err
	}
	if !change.trusts || d.Trusted || run.Opt.DryRun || run.Opt.JSON {
		return nil
	}
	return noteBrought(ctx, run.Env, run.Memory, d.ID)
}

// othersCalled returns the names of the other devices with the name of this one, as an addition to an error.
func othersCalled(ctx context.Context, run app.Run, name string) string {
	devices, err := trust.Devices(ctx, run.DB)
	if err != nil {
		return ""
	}
	var names []string
	for _, d := range devices {
		if base, _, _ := strings.Cut(d.Name, "~"); !d.Own && base == name {
			names = append(names, d.Name)
		}
	}
	return app.If(len(names) > 0, "; the other one is "+strings.Join(names, " or "))
}

// noteBrought prints what the lanes of a device bring that is trusted now: sessions, and those that went on differently.
func noteBrought(ctx context.Context, e *app.Env, m *layers.Memory, device string) error {
	all, err := trust.Projects(ctx, m.DB)
	if err != nil {
		return err
	}
	sessions, projects := 0, 0
	var parted []app.Parted
	for _, p := range all {
		st, err := trust.Outline(ctx, m.DB, p.ID)
		if err != nil {
			return err
		}
		n := 0
		for _, s := range st.Recent() {
			if s.On(device) {
				n++
			}
		}
		if n == 0 {
			continue
		}
		sessions, projects = sessions+n, projects+1
		some, err := app.PartedSessions(ctx, m.DB, p.ID, device)
		if err != nil {
			return err
		}
		parted = append(parted, some...)
	}
	if sessions == 0 {
		return nil
	}
	e.Note("it has %s in %s", term.Count(sessions, "session"), term.Count(projects, "project"))
	for _, line := range app.PartedLines(parted) {
		e.Note("%s", e.Safe(line))
	}
	return nil
}
