package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/cli"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/compress"
	bodies "github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/tokens"
)

// versions is the command that lists the versions of a session.
func (e *Env) versions() *cli.Command {
	all := false
	return &cli.Command{
		Name:      "versions",
		Usage:     "list the versions of a session",
		ArgsUsage: "[<session>]",
		Flags:     []*cli.Flag{cli.Bool(&all, "all,a", "list hidden versions too")},
		Action: func(ctx context.Context, c *cli.Command) error {
			if err := e.wantOperands(c, 0, 1); err != nil {
				return err
			}
			return e.runVersions(ctx, orNewest(e.operand(0)), all)
		},
	}
}

// orNewest returns the revision that a user gave, or else the newest session.
func orNewest(rev string) string {
	if rev == "" {
		return "@"
	}
	return rev
}

// A versionAnswer is a version as --json prints it.
type versionAnswer struct {
	Label       string                 `json:"label"`
	Hash        string                 `json:"hash"`
	Device      string                 `json:"device"`
	Settings    bodies.VersionSettings `json:"settings"`
	TokensIn    int                    `json:"tokens_in"`
	TokensOut   int                    `json:"tokens_out"`
	Method      string                 `json:"method"`
	Ratio       float64                `json:"ratio"`
	MessagesIn  int                    `json:"messages_in"`
	MessagesOut int                    `json:"messages_out"`
	Kept        int                    `json:"keepits_kept"`
	Keepits     int                    `json:"keepits"`
	Created     string                 `json:"created"`
	Engine      string                 `json:"engine"`
	UsedBy      []string               `json:"used_by"`
	UsedIn      []string               `json:"usedInSessions"`
	Accessed    string                 `json:"lastAccessed,omitempty"`
	For         string                 `json:"for,omitempty"`       // tier or composition: mem made it for that
	Hidden      bool                   `json:"hidden,omitempty"`    // by rm, prune, undo or the tiers
	Revoked     string                 `json:"revoked,omitempty"`   // why it is hidden
	Stranger    string                 `json:"untrusted,omitempty"` // the device that made it, if it is not trusted
}

func (e *Env) runVersions(ctx context.Context, name string, all bool) error {
	return e.withMemory(ctx, func(m *layers.Memory, sc state.Scope) error {
		rev, err := e.resolveSession(ctx, m, sc, name)
		if err != nil {
			return err
		}
		st, err := m.Trusted().Outline(ctx, rev.Project.ID)
		if err != nil {
			return err
		}
		list := st.VersionsOf(rev.Session.ID)
		if all {
			list = st.AllVersionsOf(rev.Session.ID)
		}
		strangers, err := e.strangers(ctx, m)
		if err != nil {
			return err
		}
		if e.opt.json {
			return e.versionsJSON(st, rev, list, strangers)
		}
		if len(list) == 0 {
			e.note("%s has no versions", shortID(rev.Session.ID))
			e.hint("%s", shell("mem", "compress", shortID(rev.Session.ID)))
		}
		noted := slices.ContainsFunc(list, func(v *bodies.Version) bool { return v.Deleted || v.Revoked != "" || strangers.of(v.Device) != "" })
		columns := []column{{name: "version"}, {name: "made by", shrinks: true}, {name: "tokens", right: true, estimate: true}, {name: "to", right: true, estimate: true},
			{name: "ratio", right: true}, {name: "keepits", right: true}, {name: "when"}, {name: "engine"}, {name: "used in"}}
		if noted {
			columns = append(columns, column{name: "note"})
		}
		t := e.table(columns...)
		for _, v := range list {
			row := []cell{{full: label(v), short: v.Name(), paint: e.style().cyan}, {full: modeOf(v) + optionsOf(v.Settings)},
				{full: fmt.Sprint(v.TokensIn), short: "~" + tokens.Format(v.TokensIn)}, {full: fmt.Sprint(v.TokensOut), short: "~" + tokens.Format(v.TokensOut)},
				{full: fmt.Sprintf("%.2f", v.Ratio), short: fmt.Sprintf("%.1f:1", v.Ratio)}, {full: fmt.Sprintf("%d/%d", v.Preserved, v.Preserved+v.Summarised)},
				e.timeCell(v.Time), {full: v.Engine}, e.usedCell(st.UsedBy(v), v.Used)}
			if noted {
				row = append(row, versionNote(v, strangers.of(v.Device)))
			}
			t.row(row...)
		}
		return t.flush()
	})
}

// versionNote says why a version is not in the lists, or not used.
func versionNote(v *bodies.Version, stranger string) cell {
	if v.Deleted {
		return cell{full: "hidden"}
	}
	return noteCell(v.Revoked, stranger)
}

// optionsOf writes the settings of a version that are not the usual ones: ", preserve-all, skip 3, distance 5".
func optionsOf(s bodies.VersionSettings) string {
	out := ""
	if s.Keepit != "" && s.Keepit != string(compress.Decay) {
		out += ", " + s.Keepit
	}
	if s.Skip > 0 {
		out += fmt.Sprintf(", skip %d", s.Skip)
	}
	if s.Distance > 1 {
		out += fmt.Sprintf(", distance %d", s.Distance)
	}
	return out
}

// usedCell says how many compositions and sessions used a version, and when a session did last.
func (e *Env) usedCell(compositions []string, r bodies.Rehearsal) cell {
	c := cell{full: fmt.Sprint(len(compositions) + len(r.By)), short: "-"}
	var parts []string
	if n := len(compositions); n > 0 {
		parts = append(parts, count(n, "composition"))
	}
	if n := len(r.By); n > 0 {
		parts = append(parts, count(n, "session")+", "+ago(e.Now(), r.Last))
	}
	if len(parts) > 0 {
		c.short = strings.Join(parts, ", ")
	}
	return c
}

// resolveSession finds the session that a revision names or is a part of.
func (e *Env) resolveSession(ctx context.Context, m *layers.Memory, sc state.Scope, name string) (state.Rev, error) {
	rev, err := e.resolve(ctx, m, sc, name)
	if err != nil {
		return rev, err
	}
	if rev.Session == nil {
		return rev, withHint(usagef("%s is a %s, not a session", name, rev.Kind), "mem ls")
	}
	return rev, nil
}

func (e *Env) versionsJSON(st *state.State, rev state.Rev, list []*bodies.Version, strangers strangers) error {
	answer := struct {
		Session  string          `json:"session"`
		Project  string          `json:"project"`
		Versions []versionAnswer `json:"versions"`
	}{rev.Session.ID, rev.Project.Name, []versionAnswer{}}
	for _, v := range list {
		answer.Versions = append(answer.Versions, versionAnswerOf(st, v, strangers))
	}
	return e.printJSON("versions", answer)
}

func versionAnswerOf(st *state.State, v *bodies.Version, strangers strangers) versionAnswer {
	return versionAnswer{
		Label: v.Label, Hash: v.Derivation.Output.String(), Device: v.Device, Settings: v.Settings, TokensIn: v.TokensIn, TokensOut: v.TokensOut,
		Method: v.Counter, Ratio: v.Ratio, MessagesIn: v.MessagesIn, MessagesOut: v.MessagesOut, Kept: v.Preserved, Keepits: v.Preserved + v.Summarised,
		Created: timeText(v.Time), Engine: v.Engine, UsedBy: append([]string{}, st.UsedBy(v)...),
		UsedIn: append([]string{}, v.Used.By...), Accessed: timeText(v.Used.Last), For: v.For, Hidden: v.Deleted, Revoked: v.Revoked, Stranger: strangers.of(v.Device),
	}
}
