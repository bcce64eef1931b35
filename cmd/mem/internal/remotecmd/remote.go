package remotecmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/sync"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/remote"
)

// Remote returns mem remote.
func Remote(e *app.Env) *cli.Command {
	list := e.Action(0, 0, func(c *cli.Context) error {
		return runRemoteList(e)
	})
	change := func(least int, f func(ctx context.Context, m *layers.Memory, args []string) (string, error)) func(
		c *cli.Context) error {
		return e.Action(least, least, func(c *cli.Context) error {
			return changeRemote(c.Context, e, e.Operands, f)
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
				ArgsUsage: "[<name>]", Action: e.Action(0, 1, func(c *cli.Context) error {
					return runRecoveryKey(c.Context, e, e.Operand(0))
				})},
			{Name: "rm", Usage: "remove a remote; its data is not deleted", ArgsUsage: "<name>",
				Action: change(1, func(ctx context.Context, m *layers.Memory, args []string) (string, error) {
					return args[0], remoteRemove(ctx, e, m, args)
				})},
			{Name: "set-url", Usage: "change the URL of a remote", ArgsUsage: "<name> <url>",
				Action: change(2, func(ctx context.Context, m *layers.Memory, args []string) (string, error) {
					return args[0], remoteSetURL(ctx, e, m, args)
				})},
			{Name: "rename", Usage: "rename a remote", ArgsUsage: "<old> <new>",
				Action: change(2, func(ctx context.Context, m *layers.Memory, args []string) (string, error) {
					return args[1], remoteRename(ctx, e, m, args)
				})},
			{Name: "show", Usage: "compare a remote with this memory", ArgsUsage: "[<name>]",
				Action: e.Action(0, 1, func(c *cli.Context) error {
					return runRemoteShow(c.Context, e, e.Operand(0))
				})},
		},
	}
}

// changeRemote applies a change to the list of remotes. f returns the name of the changed remote.
func changeRemote(ctx context.Context, e *app.Env, args []string,
	f func(context.Context, *layers.Memory, []string) (string, error)) error {
	m, err := app.OpenMemory(e)
	if err != nil {
		return err
	}
	defer m.Close()
	name, err := f(ctx, m, args)
	if err != nil {
		return err
	}
	if !e.Opt.JSON {
		return nil
	}
	return e.PrintJSON("remote", nil, "name", name, "dryRun", e.Opt.DryRun)
}

func remoteRemove(ctx context.Context, e *app.Env, m *layers.Memory, args []string) error {
	r, err := sync.Remote(m.DB, args[0])
	if err != nil {
		return err
	}
	if ok, err := e.Confirm("remove the remote %s?", args[0]); err != nil || !ok {
		return err
	}
	if e.Opt.DryRun {
		e.Note("would remove the remote %s", args[0])
		return nil
	}
	warnAbandoned(e, r)
	return sync.RemoveRemote(ctx, m.DB, args[0])
}

func remoteSetURL(ctx context.Context, e *app.Env, m *layers.Memory, args []string) error {
	u, err := app.RemoteURL(e, args[1])
	if err != nil {
		return err
	}
	if err := checkDir(u); err != nil {
		return err
	}
	r, err := sync.Remote(m.DB, args[0])
	if err != nil || e.Opt.DryRun {
		return err
	}
	if r.URL != u.String() {
		warnAbandoned(e, r)
	}
	return sync.SetRemoteURL(ctx, m.DB, args[0], u)
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

func remoteRename(ctx context.Context, e *app.Env, m *layers.Memory, args []string) error {
	if err := refs.CheckRemoteName(args[1]); err != nil {
		return app.Usagef("%v", err)
	}
	if _, err := sync.Remote(m.DB, args[0]); err != nil {
		return err
	}
	if e.Opt.DryRun {
		return nameIsFree(m, args[1])
	}
	return sync.RenameRemote(ctx, m.DB, args[0], args[1])
}

// nameIsFree returns [sync.ErrRemoteExists] for the name of an existing remote.
func nameIsFree(m *layers.Memory, name string) error {
	all, err := sync.Remotes(m.DB)
	if err == nil && slices.ContainsFunc(all, func(r refs.Remote) bool { return r.Name == name }) {
		err = fmt.Errorf("remote %s: %w", name, sync.ErrRemoteExists)
	}
	return err
}

// A remoteAnswer is the JSON form of a remote.
type remoteAnswer struct {
	Name      string   `json:"name"`
	URL       string   `json:"url"`
	Projects  []string `json:"projects"`
	Encrypted bool     `json:"encrypted"`
	Originals bool     `json:"originals"` // exact bytes are pushed
}

func runRemoteList(e *app.Env) error {
	m, err := app.OpenMemory(e)
	if err != nil {
		return err
	}
	defer m.Close()
	all, err := sync.Remotes(m.DB)
	if err != nil {
		return err
	}
	remotes := []remoteAnswer{}
	t := e.Table("name", app.Column{Name: "url", Shrinks: true}, app.Column{Name: "projects", Right: true})
	for _, r := range all {
		a := remoteAnswer{r.Name, r.URL, []string{}, r.Sealed != "", r.Originals}
		for _, p := range slices.Sorted(maps.Keys(r.Projects)) {
			a.Projects = append(a.Projects, string(p))
		}
		remotes = append(remotes, a)
		t.Row(r.Name, r.URL, len(a.Projects))
	}
	if e.Opt.JSON {
		return e.PrintJSON("remote.list", nil, "remotes", remotes)
	}
	if len(all) == 0 {
		e.Note("no remotes")
		e.Hint("mem remote add origin git@host:me/memory.git")
	}
	return t.Flush()
}

func runRemoteShow(ctx context.Context, e *app.Env, name string) error {
	m, err := app.OpenMemory(e)
	if err != nil {
		return err
	}
	defer m.Close()
	r, err := sync.Remote(m.DB, name)
	if err != nil {
		return err
	}
	shown, err := sync.ShowRemote(ctx, m.DB, r)
	if err != nil {
		return err
	}
	if e.Opt.JSON {
		return e.PrintJSON("remote.show", shown)
	}
	app.Field(e, "Remote", r.Name)
	app.Field(e, "Url", r.URL)
	fieldSeal(e, shown)
	t := e.Table(app.Column{Name: "project", Shrinks: true}, "device", "here", "there", "state")
	for _, l := range shown.Lanes {
		t.Row(l.Project, l.Device, app.ShortCommit(l.Here), app.ShortCommit(l.There), l.State)
	}
	return t.Flush()
}
