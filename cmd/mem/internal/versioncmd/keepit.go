package versioncmd

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/layers/view"
)

type keepitOptions struct {
	ratio    int
	level    string
	distance int
}

// Keepit returns mem keepit.
func Keepit(e *app.Env) *cli.Command {
	var o keepitOptions
	var given bool
	return &cli.Command{
		Name:  "keepit",
		Usage: "list, add and change pinned texts, and preview what is kept",
		Description: "A marker, such as ##keepit0.80##, pins the text that you type after it, up to the next\n" +
			"marker, ##/keepit## or the end of the message. A compression keeps pinned text word for\n" +
			"word if the weight of the marker, here 0.80, reaches its threshold, which rises with the\n" +
			"ratio and with the number of sessions since (the distance). Weight 1.00 is\n" +
			"always kept. add pins a text without a marker in it: a1, a2 and so on are the markers\n" +
			"that were added to a session, k1, k2 and so on those typed in it. set, add and rm change\n" +
			"new versions only.",
		Subcommands: append(keepitChanges(e), []*cli.Command{
			{Name: "list", Usage: "list the markers of a session or the project", ArgsUsage: "[<rev>]",
				Flags: []cli.Flag{app.BoolFlag(&given, "handed", "list what the next session gets, and why it does not get the rest")},
				Action: app.Action(e, 0, 1, func(ctx context.Context, run app.Run) error {
					if given && (e.Operand(0) != "" || e.Opt.AllProjects) {
						return app.WithHint(app.Usagef("--handed lists the markers of this project"), "mem keepit list --handed")
					}
					if given {
						return runHanded(ctx, run)
					}
					return runKeepitList(ctx, run)
				})},
			{Name: "show", Usage: "print markers and their fate by ratio and distance", ArgsUsage: "[<rev>] [<marker>]",
				Action: app.Action(e, 0, 2, runKeepitShow)},
			{Name: "preview", Usage: "show which markers a compression would keep", ArgsUsage: "[<rev>]",
				Flags: []cli.Flag{
					app.ParsedFlag(&o.ratio, "ratio,r", "at the ratio `N`:1; default 15", app.Positive("a ratio", "10")),
					app.ChoiceFlag(&o.level, "aggressiveness,a",
						"at the aggressiveness `LEVEL`: minimal, moderate or aggressive", "minimal",
						"light", "moderate", "aggressive"),
					app.ParsedFlag(&o.distance, "distance", "as if `N` sessions were since; 1 is the newest", app.Positive("a distance", "5")),
				},
				Action: app.Action(e, 0, 1, func(ctx context.Context, run app.Run) error {
					return runKeepitPreview(ctx, run, o, app.OrNewest(e.Operand(0)))
				})},
		}...),
	}
}

// A marked is a session with its markers.
type marked struct {
	rev   state.Rev
	marks []state.Keepit
}

// marksOf returns the markers of a session or of a message range.
func marksOf(ctx context.Context, run app.Run, name string) (marked, error) {
	rev, err := run.ResolveSession(ctx, name)
	if err != nil {
		return marked{}, err
	}
	marks, err := markers.Keepits(ctx, run.DB, rev)
	out := marked{rev: rev}
	for _, k := range marks {
		if rev.Kind != state.IsMessages || k.Mark.Message >= rev.From && k.Mark.Message <= rev.To {
			out.marks = append(out.marks, k)
		}
	}
	return out, err
}

// listedMarks returns the markers of the project, or with --all-projects of all projects.
func listedMarks(ctx context.Context, run app.Run) ([]marked, error) {
	projects, err := run.ListedProjects(ctx)
	if err != nil {
		return nil, err
	}
	var out []marked
	for _, p := range projects {
		run.Project = p
		marks, err := allMarks(ctx, run)
		if err != nil {
			return nil, err
		}
		out = append(out, marks...)
	}
	return out, nil
}

// allMarks returns the markers of all sessions of the project that have any, the newest session first.
func allMarks(ctx context.Context, run app.Run) ([]marked, error) {
	st, err := trust.State(ctx, run.DB, run.Project.ID)
	if err != nil {
		return nil, err
	}
	var out []marked
	for _, s := range st.Recent() {
		if len(s.Markers()) == 0 {
			continue
		}
		rev := state.Rev{Kind: state.IsSession, Project: run.Project, Session: s}
		marks, err := markers.KeepitsIn(ctx, run.DB, st, rev)
		if err != nil {
			return nil, err
		}
		out = append(out, marked{rev, marks})
	}
	return out, nil
}

func runKeepitList(ctx context.Context, run app.Run) (err error) {
	var all []marked
	if name := run.Operand(0); name == "" {
		all, err = listedMarks(ctx, run)
	} else {
		all = make([]marked, 1)
		all[0], err = marksOf(ctx, run, name)
	}
	if err != nil {
		return err
	}
	l := markerList(run, "keepit.list", "session", "marker", "weight", app.Column{Name: "at", Right: true}, "kept in",
		run.ProjectColumn(), app.Column{Name: "text", Shrinks: true})
	for _, in := range all {
		for _, k := range in.marks {
			a := view.MarkerOf(in.rev.Session, k)
			a.Project = app.ProjectName(run.Env, in.rev.Project)
			l.Add(a, app.Cell{Full: a.Session, Short: term.ShortID(a.Session)}, k.ID, k.Mark.Weight,
				fmt.Sprintf("#%d", k.Mark.Message), fateText(k), in.rev.Project.Name, tokens.OneLine(k.Mark.Text, 120))
		}
	}
	return l.Print()
}

// markerList returns an empty list of markers.
func markerList(run app.Run, what string, columns ...any) *app.List {
	l := run.List(what, "markers", columns...)
	l.Page, l.None = "keepit", "no markers"
	l.Hint = "type ##keepit1.00## before the text to pin, in a message to Claude; afterwards: mem keepit add SESSION#LINE TEXT"
	return l
}

// fateText returns the versions that keep the text of a marker word for word, and those that do not.
func fateText(k state.Keepit) string {
	kept, lost := strings.Join(k.Kept, " "), strings.Join(k.Lost, " ")
	switch {
	case kept == "" && lost == "":
		return "no version yet"
	case kept == "":
		return "none of " + lost
	case lost == "":
		return kept
	}
	return kept + ", not " + lost
}

// markerName reports whether s is the name of a marker, such as k1.
func markerName(s string) bool {
	ok, err := regexp.MatchString(`^[ka][1-9][0-9]*$`, s)
	return err == nil && ok
}

func runKeepitShow(ctx context.Context, run app.Run) error {
	name, marker, operands := "@", "", run.Operands
	if n := len(operands); n > 0 && markerName(operands[n-1]) {
		marker, operands = operands[n-1], operands[:n-1]
	}
	switch len(operands) {
	case 1:
		name = operands[0]
	case 2:
		return app.WithHint(app.Usagef("%q is not a marker", operands[1]),
			term.Shell("mem", "keepit", "list", operands[0]))
	}
	in, err := marksOf(ctx, run, name)
	if err != nil {
		return err
	}
	decay, err := app.Decay(run.Env)
	if err != nil {
		return err
	}
	var marks []state.Keepit
	var have []string
	for _, k := range in.marks {
		have = append(have, k.ID)
		if marker == "" || k.ID == marker {
			marks = append(marks, k)
		}
	}
	switch {
	case marker != "" && len(marks) == 0:
		return &state.NotFoundError{What: "marker", Name: marker, Of: records.ShortID(in.rev.Session.ID), Candidates: have}
	case run.Opt.JSON:
		return keepitShowJSON(run, in.rev, marks, decay)
	case len(marks) == 0:
		run.Note("%s has no markers", term.ShortID(in.rev.Session.ID))
		return nil
	}
	run.Page("keepit")
	for i, k := range marks {
		if i > 0 {
			run.Printf("\n")
		}
		showKeepit(run.Env, in.rev, k, decay)
	}
	run.Printf("\nS kept   = kept, exactly on the threshold   . not protected\n")
	return nil
}

// showKeepit prints a marker and its fate at the usual ratios and distances.
func showKeepit(e *app.Env, rev state.Rev, k state.Keepit, decay keepit.Decay) {
	e.Printf("%s  %s  %s#%d  %q  (%d characters)\n", e.Style().Bold(k.ID),
		e.Style().Yellow("##keepit"+k.Mark.Weight.String()+"##"),
		e.Safe(term.ShortID(rev.Session.ID)), k.Mark.Message, term.SanitizeLine(tokens.OneLine(k.Mark.Text, 60)),
		len([]rune(k.Mark.Text)))
	e.Printf("%-16s%8s", "", fmt.Sprint("dist ", keepit.PreviewDistances[0]))
	for _, d := range keepit.PreviewDistances[1:] {
		e.Printf("%4d", d)
	}
	e.Printf("\n")
	for _, row := range keepit.Preview(k.Mark.Weight, decay) {
		e.Printf("%-10s %3d:1%8s", row.Level, row.Ratio, string(row.Fates[0]))
		for _, f := range row.Fates[1:] {
			e.Printf("%4s", string(f))
		}
		e.Printf("\n")
	}
}

func keepitShowJSON(run app.Run, rev state.Rev, marks []state.Keepit, decay keepit.Decay) error {
	l := run.List("keepit.show", "markers")
	for _, k := range marks {
		var rows []app.Object
		for _, p := range keepit.Preview(k.Mark.Weight, decay) {
			fates := map[string]string{}
			for i, f := range p.Fates {
				fates[fmt.Sprint(keepit.PreviewDistances[i])] = fateWord(f)
			}
			rows = append(rows, app.Object{"level", p.Level.String(), "ratio", p.Ratio, "fateByDistance", fates})
		}
		l.Add(app.Object{"", view.MarkerOf(rev.Session, k), "decay", rows})
	}
	return l.Print()
}

func fateWord(f keepit.Fate) string {
	switch f {
	case keepit.Summarised:
		return "summarised"
	case keepit.OnTheEdge:
		return "survives on the threshold"
	}
	return "survives"
}

func runKeepitPreview(ctx context.Context, run app.Run, o keepitOptions, name string) error {
	in, err := marksOf(ctx, run, name)
	if err != nil {
		return err
	}
	p, err := pressure(ctx, run, in.rev, o)
	if err != nil {
		return err
	}
	decay, fates := view.DecayOf(in.rev.Session, in.marks, p)
	if run.Opt.JSON {
		return run.PrintJSON("keepit.preview", decay)
	}
	run.Printf("A%s\n", thresholdText(p)[1:])
	if len(fates) == 0 {
		run.Note("%s has no markers", term.ShortID(in.rev.Session.ID))
		return nil
	}
	run.Printf("\n")
	if err := fateTable(run.Env, fates); err != nil {
		return err
	}
	run.Printf("\n%s\n", keptLine(decay.Preserved, decay.Summarised, 0))
	return nil
}

// pressure returns the pressure on the markers of a session.
func pressure(ctx context.Context, run app.Run, rev state.Rev, o keepitOptions) (keepit.Pressure, error) {
	const usualRatio = 15
	if o.ratio == 0 {
		o.ratio = usualRatio
	}
	var level *keepit.Level
	if o.level != "" {
		l, err := keepit.ParseLevel(o.level)
		if err != nil {
			return keepit.Pressure{}, app.Usagef("%v", err)
		}
		level = &l
	}
	p, err := derive.Pressure(ctx, run.DB, rev, o.ratio, level, o.distance)
	if err != nil {
		return p, err
	}
	p.Decay, err = app.Decay(run.Env)
	return p, err
}
