package versioncmd

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/layers/view"
)

// VersionsOptions are the options of mem versions.
type VersionsOptions struct {
	All      bool
	Manifest bool
}

// Versions returns mem versions.
func Versions(e *app.Env) *cli.Command {
	var o VersionsOptions
	return &cli.Command{
		Name:      "versions",
		Usage:     "list the versions of a session",
		ArgsUsage: "[<session>]",
		Flags: []cli.Flag{
			app.BoolFlag(&o.All, "all,a", "list hidden versions too"),
			app.BoolFlag(&o.Manifest, "manifest", "print the versions as the seeds' versions.json"),
		},
		Action: app.Action(e, 0, 1, func(ctx context.Context, run app.Run) error {
			return RunVersions(ctx, run, app.OrNewest(e.Operand(0)), o)
		}),
	}
}

// RunVersions lists the versions of the session name.
func RunVersions(ctx context.Context, run app.Run, name string, o VersionsOptions) error {
	rev, err := run.ResolveSession(ctx, name)
	if err != nil {
		return err
	}
	if o.Manifest {
		return versionsManifest(ctx, run, rev)
	}
	st, err := trust.Outline(ctx, run.DB, rev.Project.ID)
	if err == nil && run.Opt.JSON {
		st, err = trust.State(ctx, run.DB, rev.Project.ID) // keepitStats needs the plans
	}
	if err != nil {
		return err
	}
	list := st.VersionsOf(rev.Session.ID)
	if o.All {
		list = st.AllVersionsOf(rev.Session.ID)
	}
	hidden := func(v *records.Version) bool { return v.Deleted || v.Revoked != "" }
	l := run.List("versions", "versions", "version", app.Column{Name: "made by", Shrinks: true},
		app.Column{Name: "tokens", Right: true, Estimate: true}, app.Column{Name: "to", Right: true, Estimate: true},
		app.Column{Name: "ratio", Right: true}, app.Column{Name: "markers", Right: true}, "when", "engine", "used in",
		app.Column{Name: "note", Keep: true, Absent: !slices.ContainsFunc(list, hidden)})
	l.None, l.Hint = term.ShortID(rev.Session.ID)+" has no versions", term.Shell("mem", "compress", term.ShortID(rev.Session.ID))
	for _, v := range list {
		var shown view.Version
		if run.Opt.JSON {
			if shown, err = view.VersionOf(v, st.UsedBy(v)); err != nil {
				return err
			}
		}
		note := app.If(hidden(v), strings.TrimSuffix("hidden: "+v.Revoked, ": "))
		l.Add(shown, app.Cell{Full: app.Label(v), Short: v.Name(), Paint: run.Style().Cyan}, app.SettingsText(v),
			app.Cell{Full: fmt.Sprint(v.TokensIn), Short: "~" + tokens.Format(v.TokensIn)},
			app.Cell{Full: fmt.Sprint(v.TokensOut), Short: "~" + tokens.Format(v.TokensOut)},
			app.Cell{Full: fmt.Sprintf("%.2f", v.Ratio), Short: fmt.Sprintf("%.1f:1", v.Ratio)},
			fmt.Sprintf("%d/%d", v.Preserved, v.Preserved+v.Summarised), v.Time, v.Engine,
			UsedCell(run.Env, st.UsedBy(v), v.Used), note)
	}
	return l.Print("sessionId", rev.Session.ID, "project", rev.Project.Name)
}

// UsedCell returns the number of compositions and sessions that used a version, and the time of the last use.
func UsedCell(e *app.Env, compositions []string, r records.Rehearsal) app.Cell {
	c := app.Cell{Full: fmt.Sprint(len(compositions) + len(r.By)), Short: "-"}
	var parts []string
	if n := len(compositions); n > 0 {
		parts = append(parts, term.Count(n, "composition"))
	}
	if n := len(r.By); n > 0 {
		parts = append(parts, term.Count(n, "session")+", "+app.Ago(e.Now(), r.Last))
	}
	if len(parts) > 0 {
		c.Short = strings.Join(parts, ", ")
	}
	return c
}

// versionsManifest prints the versions of a session in the format of the seeds' versions.json.
func versionsManifest(ctx context.Context, run app.Run, rev state.Rev) error {
	var b bytes.Buffer
	if err := WriteVersions(ctx, run, rev, &b); err != nil {
		return err
	}
	return run.WriteJSON(b.Bytes())
}

// WriteVersions writes versions.json of the session in rev.
func WriteVersions(ctx context.Context, run app.Run, rev state.Rev, w io.Writer) error {
	man, err := view.DetailsOf(ctx, run.DB, rev)
	if err != nil {
		return err
	}
	b, err := json.MarshalIndent(man.Versions(), "", "  ")
	if err == nil {
		_, err = w.Write(append(term.EscapeJSON(b), '\n'))
	}
	return err
}
