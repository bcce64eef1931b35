package main

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/memvcs/mem/cmd/mem/internal/cli"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/refs"
)

// remote is the command about the repositories that memory travels to.
func (e *Env) remote() *cli.Command {
	list := func(_ context.Context, c *cli.Command) error {
		if err := e.wantOperands(c, 0, 0); err != nil {
			return err
		}
		return e.runRemoteList()
	}
	change := func(least int, f func(ctx context.Context, m *layers.Memory, args []string) error) func(context.Context, *cli.Command) error {
		return func(ctx context.Context, c *cli.Command) error {
			if err := e.wantOperands(c, least, least); err != nil {
				return err
			}
			return e.changeRemote(ctx, e.operands, f)
		}
	}
	return &cli.Command{
		Name:  "remote",
		Usage: "list, add and edit remotes",
		Description: "A remote is any private git repository: a directory, user@host:path, ssh:// or https://. Only clean transcripts and\n" +
			"what was made of them travel, unless you say --originals. Passwords are never stored: ssh uses your agent and keys,\n" +
			"https asks git's credential helpers. With --encrypt the remote sees nothing but padded, encrypted segments: \"mem help encryption\".",
		Action: list,
		Commands: []*cli.Command{
			{Name: "list", Usage: "list the remotes", Action: list},
			e.remoteAdd(),
			{Name: "recovery-key", Usage: "create a new recovery key for an encrypted remote; the old one becomes invalid", ArgsUsage: "[<name>]", Action: func(ctx context.Context, c *cli.Command) error {
				if err := e.wantOperands(c, 0, 1); err != nil {
					return err
				}
				return e.runRecoveryKey(ctx, e.operand(0))
			}},
			{Name: "rm", Usage: "remove a remote; its data is not deleted", ArgsUsage: "<name>", Action: change(1, func(ctx context.Context, m *layers.Memory, args []string) error { return e.remoteRemove(ctx, m, args) })},
			{Name: "set-url", Usage: "change the URL of a remote", ArgsUsage: "<name> <url>", Action: change(2, func(ctx context.Context, m *layers.Memory, args []string) error { return e.remoteSetURL(ctx, m, args) })},
			{Name: "rename", Usage: "rename a remote", ArgsUsage: "<old> <new>", Action: change(2, func(ctx context.Context, m *layers.Memory, args []string) error { return e.remoteRename(ctx, m, args) })},
			{Name: "show", Usage: "compare a remote with this memory", ArgsUsage: "[<name>]", Action: func(ctx context.Context, c *cli.Command) error {
				if err := e.wantOperands(c, 0, 1); err != nil {
					return err
				}
				return e.runRemoteShow(ctx, e.operand(0))
			}},
		},
	}
}

// changeRemote runs a subcommand that changes the list of remotes.
func (e *Env) changeRemote(ctx context.Context, args []string, f func(context.Context, *layers.Memory, []string) error) error {
	m, err := e.memory()
	if err != nil {
		return err
	}
	defer m.Close()
	if err := f(ctx, m, args); err != nil {
		return travelError(err)
	}
	if !e.opt.json {
		return nil
	}
	return e.printJSON("remote", struct {
		Name   string `json:"name"`
		DryRun bool   `json:"dry_run"`
	}{args[len(args)-1], e.opt.dryRun})
}

func (e *Env) remoteRemove(ctx context.Context, m *layers.Memory, args []string) error {
	if _, err := m.Sync().Remote(args[0]); err != nil {
		return err
	}
	if ok, err := e.confirm("forget the remote %s", args[0]); err != nil || !ok {
		return err
	}
	if e.opt.dryRun {
		e.note("would forget the remote %s", args[0])
		return nil
	}
	return m.Sync().RemoveRemote(ctx, args[0])
}

func (e *Env) remoteSetURL(ctx context.Context, m *layers.Memory, args []string) error {
	u, err := e.remoteURL(args[1])
	if err != nil {
		return err
	}
	if _, err := m.Sync().Remote(args[0]); err != nil || e.opt.dryRun {
		return err
	}
	return m.Sync().SetRemoteURL(ctx, args[0], u)
}

func (e *Env) remoteRename(ctx context.Context, m *layers.Memory, args []string) error {
	if err := refs.CheckRemoteName(args[1]); err != nil {
		return usagef("%v", err)
	}
	if _, err := m.Sync().Remote(args[0]); err != nil || e.opt.dryRun {
		return err
	}
	return m.Sync().RenameRemote(ctx, args[0], args[1])
}

// A remoteAnswer is a remote as --json prints it.
type remoteAnswer struct {
	Name      string   `json:"name"`
	URL       string   `json:"url"`
	Projects  []string `json:"projects"`
	Encrypted bool     `json:"encrypted"`
	Originals bool     `json:"originals"` // exact bytes travel there
}

func (e *Env) runRemoteList() error {
	m, err := e.memory()
	if err != nil {
		return err
	}
	defer m.Close()
	all, err := m.Sync().Remotes()
	if err != nil {
		return err
	}
	answer := struct {
		Remotes []remoteAnswer `json:"remotes"`
	}{[]remoteAnswer{}}
	t := e.table(column{name: "name"}, column{name: "url", shrinks: true}, column{name: "projects", right: true})
	for _, r := range all {
		a := remoteAnswer{r.Name, r.URL, []string{}, r.Sealed != "", r.Originals}
		for _, p := range slices.Sorted(maps.Keys(r.Projects)) {
			a.Projects = append(a.Projects, string(p))
		}
		answer.Remotes = append(answer.Remotes, a)
		t.row(cell{full: r.Name}, cell{full: r.URL}, cell{full: fmt.Sprint(len(a.Projects))})
	}
	if e.opt.json {
		return e.printJSON("remote.list", answer)
	}
	if len(all) == 0 {
		e.note("no remotes")
		e.hint("mem remote add origin git@host:me/memory.git")
	}
	return t.flush()
}

func (e *Env) runRemoteShow(ctx context.Context, name string) error {
	m, err := e.memory()
	if err != nil {
		return err
	}
	defer m.Close()
	r, err := m.Sync().Remote(name)
	if err != nil {
		return travelError(err)
	}
	shown, err := m.Sync().ShowRemote(ctx, r)
	if err != nil {
		return travelError(err)
	}
	if e.opt.json {
		return e.printJSON("remote.show", shown)
	}
	e.field("Remote", r.Name)
	e.field("Url", r.URL)
	e.fieldSeal(shown)
	t := e.table(column{name: "project", shrinks: true}, column{name: "device"}, column{name: "here"}, column{name: "there"}, column{name: "state"})
	for _, l := range shown.Lanes {
		t.row(cell{full: l.Project}, cell{full: l.Device}, cell{full: shortCommit(l.Here)}, cell{full: shortCommit(l.There)}, cell{full: l.State})
	}
	return t.flush()
}
