package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/cli"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/sync"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/remote"
	"github.com/memvcs/mem/refs/sealed"
)

// sealOptions say how an encrypted remote is joined, and whether exact bytes travel.
type sealOptions struct {
	encrypt   bool
	file      string // with the recovery key
	originals bool
	raw       bool
	recovery  string // as it was read
}

// flags are those that "remote add" and "clone" share.
func (o *sealOptions) flags() []*cli.Flag {
	return []*cli.Flag{
		cli.String(&o.file, "recovery-key", "read the recovery key of an encrypted remote from `FILE`, - is standard input"),
		cli.Bool(&o.originals, "originals", "let exact bytes travel too, with the secrets in them"),
		cli.Bool(&o.raw, "yes-raw", "with --originals: also to a remote that is not encrypted"),
	}
}

// remoteAdd is the subcommand that adds a remote.
func (e *Env) remoteAdd() *cli.Command {
	var o sealOptions
	return &cli.Command{
		Name: "add", Usage: "add a remote", ArgsUsage: "<name> <url>",
		Flags: append([]*cli.Flag{cli.Bool(&o.encrypt, "encrypt", "encrypt all that goes there; makes an empty repository an encrypted remote, or joins one")}, o.flags()...),
		Action: func(ctx context.Context, c *cli.Command) error {
			if err := e.wantOperands(c, 2, 2); err != nil {
				return err
			}
			m, err := e.memory()
			if err != nil {
				return err
			}
			defer m.Close()
			j, err := e.runRemoteAdd(ctx, m, e.operand(0), e.operand(1), o)
			if err != nil {
				return travelError(err)
			}
			return e.printRemoteAdded(e.operand(0), j, o)
		},
	}
}

func (e *Env) runRemoteAdd(ctx context.Context, m *layers.Memory, name, address string, o sealOptions) (j sealed.Joined, err error) {
	u, err := e.remoteURL(address)
	if err != nil {
		return j, err
	}
	if err := refs.CheckRemoteName(name); err != nil {
		return j, usagef("%v", err)
	}
	if o.file != "" && !o.encrypt {
		return j, usagef("--recovery-key is for encrypted remotes: say --encrypt too")
	}
	if e.opt.dryRun {
		kind := "remote"
		if o.encrypt {
			kind = "encrypted remote"
		}
		e.note("would add the %s %s at %s", kind, name, u.String())
		return j, nil
	}
	if !o.encrypt {
		if err := e.allowRaw(u, o); err != nil {
			return j, err
		}
		if o.originals {
			return j, m.Sync().AddRawRemote(ctx, name, u)
		}
		return j, m.Sync().AddRemote(ctx, name, u)
	}
	if o.file != "" {
		if err := e.readRecovery(&o); err != nil {
			return j, err
		}
	}
	return m.Sync().AddSealed(ctx, name, u, sync.Seal{Recovery: o.recovery, Originals: o.originals})
}

// allowRaw makes sure that the user wants exact bytes on a remote that is not encrypted.
func (e *Env) allowRaw(u remote.URL, o sealOptions) error {
	if !o.originals || o.raw || e.opt.dryRun {
		return nil
	}
	if !e.Term.Stdin || !e.Term.Stderr {
		return withHint(usagef("--originals sends secrets as they are to a remote that is not encrypted"), "encrypt it: --encrypt", "or say that you want it so: --yes-raw")
	}
	ok, err := e.ask("send the exact bytes of all sessions, with the secrets in them, to %s, which is not encrypted?", u.String())
	if err == nil && !ok {
		err = exit(exitNo)
	}
	return err
}

// printRemoteAdded says how a remote was added. The recovery key is shown here, and never again.
func (e *Env) printRemoteAdded(name string, j sealed.Joined, o sealOptions) error {
	if e.opt.json {
		if err := e.printJSON("remote", struct {
			Name      string `json:"name"`
			Encrypted bool   `json:"encrypted"`
			Recovery  string `json:"recovery_key,omitempty"`
			DryRun    bool   `json:"dry_run"`
		}{name, o.encrypt, j.Recovery, e.opt.dryRun}); err != nil {
			return err
		}
	}
	switch {
	case !o.encrypt || e.opt.dryRun:
	case j.Created:
		e.note("%s is encrypted from now on; this device can read it", name)
		e.printRecovery(j.Recovery)
	case !j.Open:
		return sealError(&sealed.WaitingError{Request: j.Request})
	default:
		e.note("%s is an encrypted remote; this device can read it", name)
		e.warnGuest(j)
		if o.file == "" {
			e.hint("mem remote recovery-key %s makes a recovery key, if there is none on paper", name)
		}
		if o.originals != j.Originals {
			e.warn("whether exact bytes travel was decided when it was made: %s", map[bool]string{true: "they do", false: "they do not"}[j.Originals])
		}
	}
	return nil
}

// warnGuest says that a device is no member, since it may not write.
func (e *Env) warnGuest(j sealed.Joined) {
	if j.Guest != nil {
		e.warn("this device could not become a member, and reads the remote only until its keyring changes: %v", j.Guest)
	}
}

// printRecovery shows a recovery key: the only thing on standard output, in groups that can be copied by hand.
func (e *Env) printRecovery(key string) {
	e.note("the recovery key opens it when every device is lost. Write it down and keep it apart; it is stored nowhere and not shown again:")
	if e.opt.json {
		return
	}
	e.printf("%s\n", key)
}

func (e *Env) runRecoveryKey(ctx context.Context, name string) error {
	m, err := e.memory()
	if err != nil {
		return err
	}
	defer m.Close()
	r, err := m.Sync().Remote(name)
	if err != nil {
		return travelError(err)
	}
	if ok, err := e.confirm("end the recovery key of %s and make another one", r.Name); err != nil || !ok {
		return err
	}
	if e.opt.dryRun {
		e.note("would make a new recovery key for %s", r.Name)
		return nil
	}
	key, err := m.Sync().RenewRecovery(ctx, r)
	if err != nil {
		return travelError(err)
	}
	if e.opt.json {
		return e.printJSON("remote.recovery-key", struct {
			Name string `json:"name"`
			Key  string `json:"recovery_key"`
		}{r.Name, key})
	}
	e.printRecovery(key)
	return nil
}

// readRecovery reads the recovery key from a file, from standard input or from the terminal. It is never an argument: others see those.
func (e *Env) readRecovery(o *sealOptions) (err error) {
	var text []byte
	switch {
	case o.file == "-":
		text, err = io.ReadAll(io.LimitReader(e.Stdin, 1<<16))
	case o.file != "":
		text, err = os.ReadFile(e.path(o.file))
	case e.Term.Stdin && e.Term.Stderr && e.Secret != nil:
		fmt.Fprint(e.Stderr, "recovery key (none: let another device approve this one): ")
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
		return withHint(usagef("%v: it begins with AGE-SECRET-KEY-1 and has 74 characters", err), "look for a character that was mistyped")
	}
	return nil
}

// deviceApprove is the subcommand that lets a device read an encrypted remote.
func (e *Env) deviceApprove() *cli.Command {
	var name string
	return &cli.Command{
		Name: "approve", Usage: "allow another device to read an encrypted remote", ArgsUsage: "<request> [<name>]",
		Description: "The request is what \"mem clone\" or \"mem pull\" prints on the other device. It can read all that is on the remote then.",
		Flags:       []*cli.Flag{cli.String(&name, "remote", "the encrypted remote `NAME`, if there are several")},
		Action: func(ctx context.Context, c *cli.Command) error {
			if err := e.wantOperands(c, 1, 2); err != nil {
				return err
			}
			return e.runDeviceApprove(ctx, e.operand(0), e.operand(1), name)
		},
	}
}

func (e *Env) runDeviceApprove(ctx context.Context, text, name, on string) error {
	request, err := sealed.ParseRequest(text)
	if err != nil {
		return usagef("%v", err)
	}
	m, err := e.memory()
	if err != nil {
		return err
	}
	defer m.Close()
	r, err := e.sealedRemote(m, on)
	if err != nil {
		return travelError(err)
	}
	if name == "" {
		name = "device " + request.Device[:8]
	}
	if !e.opt.dryRun {
		if err := m.Sync().Approve(ctx, r, request, name); err != nil {
			return travelError(fmt.Errorf("approve %s on %s: %w", name, r.Name, err))
		}
	}
	if e.opt.json {
		return e.printJSON("device.approve", struct {
			Remote string `json:"remote"`
			ID     string `json:"id"`
			Name   string `json:"name"`
			DryRun bool   `json:"dry_run"`
		}{r.Name, request.Device, name, e.opt.dryRun})
	}
	verb := "can read"
	if e.opt.dryRun {
		verb = "could read"
	}
	e.note("%s %s all that is on %s", name, verb, r.Name)
	return nil
}

// sealedRemote returns the encrypted remote of a name, or the only one.
func (e *Env) sealedRemote(m *layers.Memory, name string) (refs.Remote, error) {
	if name != "" {
		return m.Sync().Remote(name)
	}
	all, err := m.Sync().Remotes()
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
	return refs.Remote{}, withHint(usagef("there are several encrypted remotes: %s", strings.Join(names, ", ")), "mem device approve --remote "+names[0]+" ...")
}

// fieldSeal says who can read a remote.
func (e *Env) fieldSeal(s sync.Shown) {
	if !s.Encrypted {
		if s.Originals {
			e.field("Originals", "exact bytes travel there")
		}
		return
	}
	var who []string
	for _, m := range s.Members {
		who = append(who, m.Name)
	}
	e.field("Encrypted", fmt.Sprintf("for %s; epoch %d", strings.Join(who, ", "), s.Epochs))
	if s.Originals {
		e.field("Originals", "exact bytes travel there")
	}
}

// sealError adds to an error of an encrypted remote what can be done about it.
func sealError(err error) error {
	var waiting *sealed.WaitingError
	switch {
	case errors.As(err, &waiting):
		return withCode(exitAuth, withHint(err, "on a device that can read it: mem device approve "+waiting.Request.String()+" NAME; then here: mem pull",
			"or with the recovery key: mem remote rm NAME, then mem remote add --encrypt --recovery-key FILE NAME URL"))
	case errors.Is(err, sealed.ErrNoKey):
		return withCode(exitAuth, err)
	case errors.Is(err, sealed.ErrPlain):
		return withCode(exitNo, withHint(err, "use an empty repository for an encrypted remote"))
	case errors.Is(err, sealed.ErrKeyring):
		return withCode(exitNo, withHint(err, "nothing was taken from it; if the remote was restored from a backup, mem push puts the newest keyring back"))
	case errors.Is(err, sync.ErrNotSealed):
		return withCode(exitNo, withHint(err, "mem remote add --encrypt NAME URL"))
	}
	return err
}
