package remotecmd

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/sync"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/remote"
	"github.com/memvcs/mem/refs/sealed"
)

type cloneOptions struct {
	device string
	trust  bool
	seal   sealOptions

	url     remote.URL
	sealed  bool           // found out
	resumed bool           // an interrupted clone of the same remote is here
	session remote.Session // the session to continue; nil: a new one
}

// Clone returns mem clone.
func Clone(e *app.Env) *cli.Command {
	var o cloneOptions
	return &cli.Command{
		Name:      "clone",
		Usage:     "create a memory from a remote",
		ArgsUsage: "<url>",
		Description: "Creates a memory from the remote, or resumes a clone that was interrupted; an existing\n" +
			"memory is refused. This machine becomes a new device. The data of other devices is\n" +
			"verified byte by byte, as in \"mem fetch\". The remote is named origin. An encrypted\n" +
			"remote needs its recovery key, or the approval of a device that can read it.",
		Flags: append([]cli.Flag{
			app.StringFlag(&o.device, "device", "name this device `NAME`, not after its host"),
			app.BoolFlag(&o.trust, "trust", "trust every device of the remote (all of them are yours)"),
		}, o.seal.flags()...),
		Action: e.Action(1, 1, func(c *cli.Context) error {
			if o.seal.raw && !o.seal.originals {
				return app.Usagef("--yes-raw requires --originals")
			}
			if o.device != "" {
				if err := app.CheckDeviceName(o.device); err != nil {
					return err
				}
			}
			return runClone(c.Context, e, e.Operand(0), o)
		}),
	}
}

func runClone(ctx context.Context, e *app.Env, address string, o cloneOptions) error {
	var err error
	if o.url, err = app.RemoteURL(e, address); err != nil {
		return err
	}
	if o.resumed, err = cloneBegun(e, o.url); err != nil {
		return err
	}
	// Connect before creating anything.
	options, err := app.MemoryOptions(e)
	if err != nil {
		return err
	}
	s, err := remote.New(o.url, options.World).Open(ctx, remote.Upload)
	if err != nil {
		return fmt.Errorf("clone %s: %w", o.url, err)
	}
	o.sealed = sync.IsSealed(s.Refs())
	if !e.Opt.DryRun && !o.sealed && !o.seal.originals { // an interrupted clone continues
		o.session = s
		return makeClone(ctx, e, o, options)
	}
	if err := s.Close(); err != nil {
		return err
	}
	if e.Opt.DryRun {
		return printClone(e, o, sync.Fetched{})
	}
	if o.sealed {
		err = readRecovery(e, &o.seal)
	} else {
		err = o.seal.allow(e, o.url)
	}
	if err != nil {
		return err
	}
	return makeClone(ctx, e, o, options)
}

// cloneBegun reports whether the memory is an interrupted clone of the remote. Any other memory is an error.
func cloneBegun(e *app.Env, u remote.URL) (bool, error) {
	dir, err := e.MemoryDir()
	if err != nil {
		return false, err
	}
	from, err := refs.UnfinishedClone(dir)
	switch {
	case err != nil:
		return false, err
	case from == u.String():
		return true, nil
	case from != "":
		return false, app.WithHint(fmt.Errorf("an interrupted clone of %s is in %s", from, dir), "resume it: "+
			term.Shell("mem", "clone", from), "or choose another place: --mem-dir")
	}
	m, err := app.OpenMemory(e)
	if err == nil {
		defer m.Close()
		add := term.Shell("mem", "remote", "add", "origin", u.String()) + ", then mem pull"
		if r, err := sync.Remote(m.DB, "origin"); err == nil && r.URL == u.String() {
			add = "mem pull"
		} else if err == nil {
			add = term.Shell("mem", "remote", "add") + " NAME " + term.Shell(u.String()) + ", then mem pull NAME"
		}
		return false, app.WithHint(fmt.Errorf("a memory already exists in %s", dir), add, "or choose another place: --mem-dir")
	}
	if !errors.Is(err, refs.ErrNotRepo) {
		return false, err
	}
	return false, nil
}

// makeClone creates the memory and fetches everything from the remote.
func makeClone(ctx context.Context, e *app.Env, o cloneOptions, options state.Options) error {
	m, r, err := initClone(ctx, e, o, options)
	if err != nil {
		return endSession(o.session, err)
	}
	defer m.Close()
	run := app.Run{Env: e, Memory: m}
	out, err := runFetchOn(ctx, run, r, o.session)
	if err != nil {
		return app.WithHint(err, "run the same command again: it resumes")
	}
	if o.resumed {
		if out.Devices, err = untrusted(ctx, m); err != nil {
			return err
		}
	}
	for i, d := range out.Devices {
		if o.trust {
			forgotten, err := sync.Trust(ctx, m.DB, d)
			if err != nil {
				return err
			}
			out.Devices[i].Trusted, out.Forgotten = true, append(out.Forgotten, forgotten...)
		}
	}
	if o.trust && r.Originals {
		exact, err := runFetchOn(ctx, run, r, nil) // exact bytes are fetched from trusted devices alone
		if err != nil {
			return app.WithHint(err, "run the same command again: it resumes")
		}
		out.Lanes = append(out.Lanes, exact.Lanes...)
		out.Objects, out.Bytes = out.Objects+exact.Objects, out.Bytes+exact.Bytes
	}
	if err := m.Repo().EndClone(o.url.String()); err != nil {
		return err
	}
	return printClone(e, o, out)
}

// untrusted returns the other devices that are not trusted yet, including those of an interrupted clone.
func untrusted(ctx context.Context, m *layers.Memory) ([]state.Device, error) {
	all, err := trust.Waiting(ctx, m.DB)
	return slices.DeleteFunc(all, func(d state.Device) bool { return d.Own || d.Trusted }), err
}

// initClone creates an empty memory with the remote.
func initClone(
	ctx context.Context, e *app.Env, o cloneOptions, options state.Options,
) (m *layers.Memory, r refs.Remote, err error) {
	dir, err := e.MemoryDir()
	if err != nil {
		return nil, r, err
	}
	if o.device == "" {
		if o.device, err = e.Hostname(); err != nil || o.device == "" {
			o.device = "device" // a machine need not have a name
		}
	}
	if !o.resumed {
		if err = refs.BeginClone(dir, o.url.String()); err != nil {
			return nil, r, fmt.Errorf("make a memory in %s: %w", dir, err)
		}
	}
	if m, err = layers.Init(ctx, dir, o.device, options); err != nil {
		return nil, r, fmt.Errorf("make a memory in %s: %w", dir, err)
	}
	if err = addOrigin(ctx, e, m, o); err == nil {
		r, err = sync.Remote(m.DB, "origin")
	}
	if err != nil {
		m.Close() // the error before it is the cause
		return nil, r, err
	}
	return m, r, nil
}

// addOrigin adds the remote, unless an interrupted clone has added it.
func addOrigin(ctx context.Context, e *app.Env, m *layers.Memory, o cloneOptions) error {
	if there, err := hasOrigin(ctx, m, o); there || err != nil {
		return err
	}
	if !o.sealed && o.seal.originals {
		return sync.AddRawRemote(ctx, m.DB, "origin", o.url)
	}
	if !o.sealed {
		return sync.AddRemote(ctx, m.DB, "origin", o.url)
	}
	j, err := sync.AddSealed(ctx, m.DB, "origin", o.url, sync.Seal{Recovery: o.seal.recovery})
	if err != nil {
		return app.WithHint(err, "run the same command again: it resumes")
	}
	if !j.Readable {
		return &sealed.NotMemberError{Request: j.Request}
	}
	warnReadOnly(e, j)
	return nil
}

// hasOrigin reports whether an interrupted clone has added the remote with the same options. A remote that differs, or
// is to be opened with a recovery key, is removed first.
func hasOrigin(ctx context.Context, m *layers.Memory, o cloneOptions) (bool, error) {
	all, err := sync.Remotes(m.DB)
	i := slices.IndexFunc(all, func(r refs.Remote) bool { return r.Name == "origin" })
	if err != nil || i < 0 {
		return false, err
	}
	same := all[i].URL == o.url.String() && (all[i].Sealed != "") == o.sealed
	if o.sealed {
		same = same && o.seal.recovery == ""
	} else {
		same = same && all[i].Originals == o.seal.originals
	}
	if same {
		return true, nil
	}
	return false, sync.RemoveRemote(ctx, m.DB, "origin")
}

func printClone(e *app.Env, o cloneOptions, out sync.Fetched) error {
	r := refs.Remote{Name: "origin", URL: o.url.String()}
	dir, err := e.MemoryDir()
	if err != nil {
		return err
	}
	if e.Opt.JSON {
		return e.PrintJSON("clone", append(app.Object{"dir", dir}, fetched(r, out, e.Opt.DryRun)...))
	}
	what := r.URL
	if o.sealed {
		what = "the encrypted " + what
	}
	e.Note("%s %s into %s", e.Verb("cloned", "would clone"), what, dir)
	if e.Opt.DryRun {
		return nil
	}
	if len(out.Lanes) == 0 {
		e.Note("the remote has no memory yet")
		e.Hint("mem push --all sends this one there")
		return fetchStatus(out)
	}
	return printFetch(e, "pull", r, out)
}
