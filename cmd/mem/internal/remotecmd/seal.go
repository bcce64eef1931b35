package remotecmd

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/sync"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/remote"
	"github.com/memvcs/mem/refs/sealed"
)

// sealOptions are the options for encrypted remotes and for exact bytes.
type sealOptions struct {
	encrypt   bool
	file      string // with the recovery key
	originals bool
	raw       bool
	recovery  string // as it was read
}

// flags returns the flags common to "remote add" and "clone".
func (o *sealOptions) flags() []cli.Flag {
	return []cli.Flag{
		app.StringFlag(&o.file, "recovery-key",
			"read the recovery key of an encrypted remote from `FILE`, - is standard input"),
		app.BoolFlag(&o.originals, "originals", "push exact bytes too, with the secrets in them"),
		app.BoolFlag(&o.raw, "yes-raw", "with --originals: also to a remote that is not encrypted"),
	}
}

// remoteAdd returns mem remote add.
func remoteAdd(e *app.Env) *cli.Command {
	var o sealOptions
	return &cli.Command{
		Name: "add", Usage: "add a remote", ArgsUsage: "<name> <url>",
		Flags: append([]cli.Flag{app.BoolFlag(&o.encrypt, "encrypt",
			"encrypt everything; turns an empty repository into an encrypted remote, or joins one")}, o.flags()...),
		Action: app.StoreAction(e, 2, 2, func(ctx context.Context, run app.Run) error {
			j, err := runRemoteAdd(ctx, e, run.Memory, o)
			if err != nil {
				return err
			}
			return printRemoteAdded(e, e.Operand(0), j, o)
		}),
	}
}

func runRemoteAdd(ctx context.Context, e *app.Env, m *layers.Memory, o sealOptions) (j sealed.JoinResult, err error) {
	name := e.Operand(0)
	u, err := app.RemoteURL(e, e.Operand(1))
	if err != nil {
		return j, err
	}
	if err := refs.CheckRemoteName(name); err != nil {
		return j, app.Usagef("%v", err)
	}
	if o.file != "" && !o.encrypt {
		return j, app.Usagef("--recovery-key requires --encrypt")
	}
	if o.raw && !o.originals {
		return j, app.Usagef("--yes-raw requires --originals")
	}
	if err := nameIsFree(m, name); err != nil {
		return j, err
	}
	if err := checkDir(u); err != nil {
		return j, err
	}
	if e.Opt.DryRun {
		kind := cmp.Or(app.If(o.encrypt, "encrypted remote"), "remote")
		e.Note("would add the %s %s at %s", kind, name, u.String())
		return j, nil
	}
	if !o.encrypt {
		if err := o.allow(e, u); err != nil {
			return j, err
		}
		if o.originals {
			return j, sync.AddRawRemote(ctx, m.DB, name, u)
		}
		return j, sync.AddRemote(ctx, m.DB, name, u)
	}
	if o.file != "" {
		if err := readRecovery(e, &o); err != nil {
			return j, err
		}
	}
	return sync.AddSealed(ctx, m.DB, name, u, sync.Seal{Recovery: o.recovery, Originals: o.originals})
}

// allowRaw asks before exact bytes are sent or written to a place that is not encrypted.
func allowRaw(e *app.Env, does, verb, place string, hints ...string) error {
	if e.Opt.DryRun {
		return nil
	}
	if !e.Term.Stdin || !e.Term.Stderr {
		return app.WithHint(app.Usagef("--originals %s that is not encrypted", does), hints...)
	}
	ok, err := e.Ask("%s the exact bytes of all sessions, with the secrets in them, to %s, which is not encrypted?", verb, place)
	if err == nil && !ok {
		err = app.Exit(app.ExitNo)
	}
	return err
}

// allow asks before exact bytes are sent to a remote that is not encrypted.
func (o *sealOptions) allow(e *app.Env, u remote.URL) error {
	if !o.originals || o.raw {
		return nil
	}
	return allowRaw(e, "sends secrets as they are to a remote", "send", u.String(), "encrypt it: --encrypt",
		"or confirm with --yes-raw")
}

// printRemoteAdded prints the added remote and its recovery key, which is never printed again.
func printRemoteAdded(e *app.Env, name string, j sealed.JoinResult, o sealOptions) error {
	if e.Opt.JSON {
		if err := e.PrintJSON("remote", nil, "name", name, "encrypted", o.encrypt,
			"recoveryKey,omitempty", j.Recovery, "dryRun", e.Opt.DryRun); err != nil {
			return err
		}
	}
	switch {
	case !o.encrypt || e.Opt.DryRun:
	case j.Created:
		e.Note("%s is an encrypted remote now; this device can read it", name)
		printRecovery(e, j.Recovery)
	case !j.Readable:
		return &sealed.NotMemberError{Request: j.Request}
	default:
		e.Note("%s is an encrypted remote; this device can read it", name)
		warnReadOnly(e, j)
		if o.file == "" {
			e.Hint("mem remote recovery-key %s creates a recovery key, if you have none", name)
		}
		if o.originals != j.Originals {
			e.Warn("--originals was fixed when the remote was created: exact bytes %s pushed",
				map[bool]string{true: "are", false: "are not"}[j.Originals])
		}
	}
	return nil
}

// warnReadOnly warns that the device is not a member of the encrypted remote, because it may not write there.
func warnReadOnly(e *app.Env, j sealed.JoinResult) {
	if j.ReadOnly != nil {
		e.Warn("this device could not become a member, and reads the remote only until its keyring changes: %v", j.ReadOnly)
	}
}

// printRecovery prints a recovery key as the only output on stdout, in groups for copying by hand.
func printRecovery(e *app.Env, key string) {
	e.Note(
		"the recovery key can read the remote if every device is lost. Write it down and keep it " +
			"in another place; it is not stored and not printed again:")
	if e.Opt.JSON {
		return
	}
	e.Printf("%s\n", key)
}

func runRecoveryKey(ctx context.Context, run app.Run, r refs.Remote) error {
	if ok, err := run.Confirm("replace the recovery key of %s", r.Name); err != nil || !ok {
		return err
	}
	if run.Opt.DryRun {
		run.Note("would create a new recovery key for %s", r.Name)
		return nil
	}
	key, err := sync.RenewRecovery(ctx, run.DB, r)
	if err != nil {
		return err
	}
	if run.Opt.JSON {
		return run.PrintJSON("remote.recovery-key", nil, "name", r.Name, "recoveryKey", key)
	}
	printRecovery(run.Env, key)
	return nil
}

// readRecovery reads the recovery key from a file, standard input or the terminal. It is never an argument, because
// other users can see those.
func readRecovery(e *app.Env, o *sealOptions) (err error) {
	var text []byte
	switch {
	case o.file == "-":
		text, err = io.ReadAll(io.LimitReader(e.Stdin, 1<<16))
	case o.file != "":
		text, err = os.ReadFile(e.Path(o.file))
	case e.Term.Stdin && e.Term.Stderr && e.Secret != nil:
		fmt.Fprint(e.Stderr, "recovery key (empty: another device approves this one): ")
		text, err = e.Secret()
		fmt.Fprintln(e.Stderr)
	}
	if err != nil {
		return fmt.Errorf("read the recovery key: %w", err)
	}
	if strings.TrimSpace(string(text)) == "" && o.file == "" {
		return nil
	}
	if o.recovery, err = sealed.ParseRecovery(string(text)); err != nil {
		return app.WithHint(app.Usagef("%v: it begins with AGE-SECRET-KEY-1 and has 74 characters", err),
			"check for a mistyped character")
	}
	return nil
}

// deviceApprove returns mem device approve.
func deviceApprove(e *app.Env) *cli.Command {
	var name string
	return &cli.Command{
		Name: "approve", Usage: "allow another device to read an encrypted remote", ArgsUsage: "<request> [<name>]",
		Description: "REQUEST is printed by \"mem clone\" or \"mem pull\" on the other device. Afterwards that\n" +
			"device can read everything on the remote.",
		Flags: []cli.Flag{app.StringFlag(&name, "remote", "the encrypted remote `NAME`, if there are several")},
		Action: app.StoreAction(e, 1, 2, func(ctx context.Context, run app.Run) error {
			return runDeviceApprove(ctx, run, name)
		}),
	}
}

func runDeviceApprove(ctx context.Context, run app.Run, on string) error {
	request, err := sealed.ParseRequest(run.Operand(0))
	if err != nil {
		return app.Usagef("%v", err)
	}
	r, err := sealedRemote(run.Memory, on)
	if err != nil {
		return err
	}
	name := cmp.Or(run.Operand(1), "device "+request.Device[:8])
	if !run.Opt.DryRun {
		if err := sync.Approve(ctx, run.DB, r, request, name); err != nil {
			return fmt.Errorf("approve %s on %s: %w", name, r.Name, err)
		}
	}
	return run.Did("device.approve", app.Object{"remote", r.Name, "id", request.Device, "name", name},
		"%s %s all data on %s", name, run.Verb("can read", "could read"), r.Name)
}

// sealedRemote returns the encrypted remote with the name, or the only one.
func sealedRemote(m *layers.Memory, name string) (refs.Remote, error) {
	if name != "" {
		return sync.Remote(m.DB, name)
	}
	all, err := sync.Remotes(m.DB)
	if err != nil {
		return refs.Remote{}, err
	}
	var found []refs.Remote
	var names []string
	for _, r := range all {
		if r.Sealed != "" {
			found, names = append(found, r), append(names, r.Name)
		}
	}
	switch len(found) {
	case 0:
		return refs.Remote{}, sync.ErrNotSealed
	case 1:
		return found[0], nil
	}
	return refs.Remote{}, app.WithHint(app.Usagef("there are several encrypted remotes: %s", strings.Join(names, ", ")),
		"mem device approve --remote "+names[0]+" ...")
}
