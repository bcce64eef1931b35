package versioncmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/names"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/compress"
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
		Action: e.Action(0, 1, func(c *cli.Context) error {
			return RunVersions(c.Context, e, names.OrNewest(e.Operand(0)), o)
		}),
	}
}

// RunVersions lists the versions of the session name.
func RunVersions(ctx context.Context, e *app.Env, name string, o VersionsOptions) error {
	return names.WithMemory(ctx, e, func(run names.Run) error {
		rev, err := run.ResolveSession(ctx, name)
		if err != nil {
			return err
		}
		if o.Manifest {
			return versionsManifest(ctx, run, rev)
		}
		st, err := trust.Outline(ctx, run.DB, rev.Project.ID)
		if err == nil && e.Opt.JSON {
			st, err = trust.State(ctx, run.DB, rev.Project.ID) // keepitStats needs the plans
		}
		if err != nil {
			return err
		}
		list := st.VersionsOf(rev.Session.ID)
		if o.All {
			list = st.AllVersionsOf(rev.Session.ID)
		}
		if e.Opt.JSON {
			versions, err := view.VersionsOf(st, list)
			return errors.Join(err, e.PrintJSON("versions", nil, "sessionId", rev.Session.ID,
				"project", rev.Project.Name, "versions", versions))
		}
		if len(list) == 0 {
			e.Note("%s has no versions", term.ShortID(rev.Session.ID))
			e.Hint("%s", term.Shell("mem", "compress", term.ShortID(rev.Session.ID)))
		}
		noted := slices.ContainsFunc(list, func(v *records.Version) bool {
			return v.Deleted || v.Revoked != ""
		})
		columns := []app.Column{{Name: "version"}, {Name: "made by", Shrinks: true},
			{Name: "tokens", Right: true, Estimate: true}, {Name: "to", Right: true, Estimate: true},
			{Name: "ratio", Right: true}, {Name: "markers", Right: true}, {Name: "when"}, {Name: "engine"}, {Name: "used in"}}
		if noted {
			columns = append(columns, app.Column{Name: "note", Keep: true})
		}
		t := e.Table(columns...)
		for _, v := range list {
			row := []app.Cell{{Full: names.Label(v), Short: v.Name(), Paint: e.Style().Cyan},
				{Full: names.ModeOf(v) + optionsOf(v.Settings)},
				{Full: fmt.Sprint(v.TokensIn), Short: "~" + tokens.Format(v.TokensIn)},
				{Full: fmt.Sprint(v.TokensOut), Short: "~" + tokens.Format(v.TokensOut)},
				{Full: fmt.Sprintf("%.2f", v.Ratio), Short: fmt.Sprintf("%.1f:1", v.Ratio)},
				{Full: fmt.Sprintf("%d/%d", v.Preserved, v.Preserved+v.Summarised)},
				e.TimeCell(v.Time), {Full: v.Engine}, UsedCell(e, st.UsedBy(v), v.Used)}
			if noted {
				row = append(row, versionNote(v))
			}
			t.Row(row...)
		}
		return t.Flush()
	})
}

// versionNote returns the reason why a version is hidden.
func versionNote(v *records.Version) app.Cell {
	if v.Deleted {
		return app.Cell{Full: "hidden"}
	}
	if v.Revoked != "" {
		return app.Cell{Full: "hidden: " + v.Revoked}
	}
	return app.Cell{}
}

// optionsOf returns the settings of a version that are not defaults: ", preserve-all, skip 3, distance 5".
func optionsOf(s records.VersionSettings) string {
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
func versionsManifest(ctx context.Context, run names.Run, rev state.Rev) error {
	var b bytes.Buffer
	if err := WriteVersions(ctx, run, rev, &b); err != nil {
		return err
	}
	return run.WriteJSON(b.Bytes())
}

// WriteVersions writes versions.json of the session in rev.
func WriteVersions(ctx context.Context, run names.Run, rev state.Rev, w io.Writer) error {
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
