package remotecmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/sync"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/remote"
	"github.com/memvcs/mem/refs/sealed"
)

// Remote returns mem remote.
func Remote(e *app.Env) *cli.Command {
	list := app.StoreAction(e, 0, 0, runRemoteList)
	change := func(operands, renamed int, f func(context.Context, app.Run, refs.Remote) error) cli.ActionFunc {
		return app.StoreAction(e, operands, operands, func(ctx context.Context, run app.Run) error {
			r, err := sync.Remote(run.DB, e.Operand(0))
			if err != nil {
				return err
			}
			if err := f(ctx, run, r); err != nil || !e.Opt.JSON {
				return err
			}
			return e.PrintJSON("remote", nil, "name", e.Operand(renamed), "dryRun", e.Opt.DryRun)
		})
	}
	return &cli.Command{
		Name:  "remote",
		Usage: "list, add and edit remotes",
		Description: "A remote is any private git repository: a directory, user@host:path, ssh:// or\n" +
			"https://. Clean transcripts and derived data are pushed; originals only with\n" +
			"--originals. Passwords are never stored: ssh uses your agent and keys, https asks git's\n" +
			"credential helpers. With --encrypt the server sees only padded, encrypted segments: see\n" +
			"\"mem help encryption\".",
		Action: list,
		Subcommands: []*cli.Command{
			{Name: "list", Usage: "list the remotes", Action: list},
			remoteAdd(e),
			{Name: "recovery-key", Usage: "create a new recovery key for an encrypted remote; the old one becomes invalid",
				ArgsUsage: "[<name>]", Action: onRemote(e, runRecoveryKey)},
			{Name: "rm", Usage: "remove a remote; its data is not deleted", ArgsUsage: "<name>",
				Action: change(1, 0, remoteRemove)},
			{Name: "set-url", Usage: "change the URL of a remote", ArgsUsage: "<name> <url>",
				Action: change(2, 0, remoteSetURL)},
			{Name: "rename", Usage: "rename a remote", ArgsUsage: "<old> <new>",
				Action: change(2, 1, remoteRename)},
			{Name: "show", Usage: "compare a remote with this memory", ArgsUsage: "[<name>]",
				Action: onRemote(e, runRemoteShow)},
		},
	}
}

// onRemote returns the action of a command on one remote, which need not be named.
func onRemote(e *app.Env, f func(context.Context, app.Run, refs.Remote) error) cli.ActionFunc {
	return app.StoreAction(e, 0, 1, func(ctx context.Context, run app.Run) error {
		r, err := sync.Remote(run.DB, e.Operand(0))
		if err != nil {
			return err
		}
		return f(ctx, run, r)
	})
}

func remoteRemove(ctx context.Context, run app.Run, r refs.Remote) error {
	if ok, err := run.Confirm("remove the remote %s?", r.Name); err != nil || !ok {
		return err
	}
	if run.Opt.DryRun {
		run.Note("would remove the remote %s", r.Name)
		return nil
	}
	warnAbandoned(run.Env, r)
	return sync.RemoveRemote(ctx, run.DB, r.Name)
}

func remoteSetURL(ctx context.Context, run app.Run, r refs.Remote) error {
	u, err := app.RemoteURL(run.Env, run.Operand(1))
	if err != nil {
		return err
	}
	if err := checkDir(u); err != nil || run.Opt.DryRun {
		return err
	}
	if r.URL != u.String() {
		warnAbandoned(run.Env, r)
	}
	return sync.SetRemoteURL(ctx, run.DB, r.Name, u)
}

// checkDir returns an error for a remote in a directory that does not exist: a misspelt path is told at once.
func checkDir(u remote.URL) error {
	if u.Scheme != "file" {
		return nil
	}
	if fi, err := os.Stat(u.Path); errors.Is(err, fs.ErrNotExist) || err == nil && !fi.IsDir() {
		return fmt.Errorf("%s: %w", u, remote.ErrAbsent)
	}
	return nil
}

// warnAbandoned warns of deleted data that a remote may still have when mem no longer knows the remote.
func warnAbandoned(e *app.Env, r refs.Remote) {
	if n := len(r.Unswept); n > 0 {
		e.Warn("deleted data of %s may still be in %s: delete it there", term.Branches(n), r.URL)
	}
}

func remoteRename(ctx context.Context, run app.Run, r refs.Remote) error {
	name := run.Operand(1)
	if err := refs.CheckRemoteName(name); err != nil {
		return app.Usagef("%v", err)
	}
	if run.Opt.DryRun {
		return nameIsFree(run.Memory, name)
	}
	return sync.RenameRemote(ctx, run.DB, r.Name, name)
}

// nameIsFree returns [sync.ErrRemoteExists] for the name of an existing remote.
func nameIsFree(m *layers.Memory, name string) error {
	all, err := sync.Remotes(m.DB)
	if err == nil && slices.ContainsFunc(all, func(r refs.Remote) bool { return r.Name == name }) {
		err = fmt.Errorf("remote %s: %w", name, sync.ErrRemoteExists)
	}
	return err
}

func runRemoteList(_ context.Context, run app.Run) error {
	all, err := sync.Remotes(run.DB)
	if err != nil {
		return err
	}
	l := run.List("remote.list", "remotes", "name", app.Column{Name: "url", Shrinks: true},
		app.Column{Name: "projects", Right: true})
	l.None, l.Hint = "no remotes", "mem remote add origin git@host:me/memory.git"
	for _, r := range all {
		projects := append([]refs.Project{}, slices.Sorted(maps.Keys(r.Projects))...)
		l.Add(app.Object{"name", r.Name, "url", r.URL, "projects", projects, "encrypted", r.Sealed != "",
			"originals", r.Originals}, r.Name, r.URL, len(projects))
	}
	return l.Print()
}

func runRemoteShow(ctx context.Context, run app.Run, r refs.Remote) error {
	shown, err := sync.ShowRemote(ctx, run.DB, r)
	if err != nil {
		return err
	}
	if run.Opt.JSON {
		return run.PrintJSON("remote.show", shown)
	}
	who := strings.Join(app.Each(shown.Members, func(m sealed.Member) string { return m.Name }), ", ")
	run.Describe("Remote", r.Name, "Url", r.URL, "Encrypted", app.If(shown.Encrypted, fmt.Sprintf("for %s; epoch %d", who, shown.Epochs)),
		"Originals", app.If(shown.Originals, "exact bytes are pushed"))
	t := run.Table(app.Column{Name: "project", Shrinks: true}, "device", "here", "there", "state")
	for _, l := range shown.Lanes {
		t.Row(l.Project, l.Device, app.ShortCommit(l.Here), app.ShortCommit(l.There), l.State)
	}
	return t.Flush()
}
