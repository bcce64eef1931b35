package doctor

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/sync"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/remote"
)

// devices checks for untrusted devices.
func (x *Exam) devices() {
	const check = "devices"
	found, err := trust.Undecided(x.Ctx, x.m.DB, nil)
	if err != nil {
		x.fail(check, "mem fsck --repair", "%v", err)
		return
	}
	var names []string
	for _, d := range found {
		names = append(names, d.Name)
	}
	switch len(names) {
	case 0:
		x.ok(check, "all trusted or revoked")
	case 1:
		x.warn(check, term.Shell("mem", "device", "trust", names[0]), "%s is not trusted: its data is not used", names[0])
	default:
		x.warn(check, "mem device list; mem device trust DEVICE", "%s are not trusted: their data is not used",
			strings.Join(names, ", "))
	}
}

// remotes checks the remotes. It contacts them only if ask is set.
func (x *Exam) remotes(ask bool) {
	const check = "remote"
	all, err := sync.Remotes(x.m.DB)
	switch {
	case err != nil:
		x.fail(check, "mem fsck --repair", "%v", err)
		return
	case len(all) == 0:
		x.ok(check, "none: no copy of this memory is kept elsewhere")
		return
	}
	for _, r := range all {
		if r.Sealed != "" {
			if err := sync.CheckSealed(x.m.DB, r); err != nil {
				x.fail(check, term.Shell("mem", "remote", "rm", r.Name)+"; mem remote add --encrypt --recovery-key FILE "+
					term.Shell(r.Name, r.URL), "the keys of %s: %v", r.Name, err)
				continue
			}
		}
		x.unswept(r)
		t, err := sync.RemoteStatus(x.Ctx, x.m.DB, r, ask)
		switch {
		case x.Ctx.Err() != nil:
			return
		case errors.Is(err, remote.ErrAuth):
			x.fail(check, FixRemote(r, err), "%s denies access: %v", r.Name, err)
		case err != nil:
			x.fail(check, FixRemote(r, err), "%s does not answer: %v", r.Name, err)
		default:
			x.remote(r, t, ask)
		}
	}
}

// unswept reports deleted data that may still be on a remote. Fixing sweeps a remote in a directory.
func (x *Exam) unswept(r refs.Remote) {
	const check = "remote"
	if len(r.Unswept) == 0 {
		return
	}
	s := sync.Sweep{Unswept: slices.Sorted(maps.Keys(r.Unswept))}
	if x.Fix {
		var err error
		if s, err = sync.SweepRemote(x.Ctx, x.m.DB, r.Name, false); err != nil {
			s = sync.Sweep{Unswept: slices.Sorted(maps.Keys(r.Unswept)), Why: err}
		}
	}
	if len(s.Unswept) == 0 {
		x.fixed(check, "deleted data is deleted from %s too", r.Name)
		return
	}
	x.warn(check, app.SweepHint(r, s.Why), "%s", app.UnsweptText(r, s))
}

// remote reports the differences between a remote and this memory.
func (x *Exam) remote(r refs.Remote, t sync.Status, asked bool) {
	const check = "remote"
	for _, l := range t.Back {
		x.warn(check, term.Shell("mem", "push", r.Name), "%s: the branch of %s in %s was %s since it was last seen",
			r.Name, l.Device, l.Project, backText(l.State))
	}
	if len(r.Projects) == 0 {
		x.warn(check, term.Shell("mem", "push", r.Name), "nothing was pushed to %s yet", r.Name)
		return
	}
	about := []string{r.Name + " " + r.URL}
	if r.Sealed != "" {
		about[0] += " (encrypted)"
	}
	if asked {
		about = append(about, "reachable")
	}
	if !r.Sent.IsZero() {
		about = append(about, "last pushed "+term.TimeText(r.Sent))
	}
	if !t.Seen.IsZero() {
		about = append(about, "newest of another device "+term.TimeText(t.Seen))
	}
	what := strings.Join(about, ", ")
	switch {
	case t.Unpushed > 0:
		x.warn(check, term.Shell("mem", "push", "--all", r.Name), "%s; %s not pushed", what,
			term.Count(t.Unpushed, "operation"))
	case t.ToFetch > 0:
		x.warn(check, term.Shell("mem", "pull", r.Name), "%s; %s to fetch", what, term.Branches(t.ToFetch))
	default:
		x.ok(check, "%s%s", what, notPushedText(t.Home))
	}
}

func backText(state string) string {
	if state == "gone" {
		return "removed"
	}
	return state
}

// notPushedText lists the projects that are on no remote, "" for none.
func notPushedText(names []string) string {
	return app.If(len(names) > 0, "; never pushed: "+term.Some(names, 3))
}
