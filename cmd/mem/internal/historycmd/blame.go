package historycmd

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/provenance"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/version"
	"github.com/memvcs/mem/layers/view"
)

type blameOptions struct {
	lines   lineRange
	reverse string
}

// A lineRange is a range of lines, counted from 1; the zero value means all lines.
type lineRange struct{ from, to int }

// parseLines parses "10,20", "10,+5" or "10".
func parseLines(s string) (lineRange, error) {
	bad := errors.New("want lines such as 10,20 or 10,+5")
	a, b, two := strings.Cut(s, ",")
	from, err := strconv.Atoi(a)
	if err != nil || from < 1 {
		return lineRange{}, bad
	}
	if !two {
		return lineRange{from, from}, nil
	}
	n, relative := strings.CutPrefix(b, "+")
	to, err := strconv.Atoi(n)
	if relative {
		to += from - 1
	}
	if err != nil || to < from || strings.HasPrefix(n, "+") {
		return lineRange{}, bad
	}
	return lineRange{from, to}, nil
}

// Blame returns mem blame.
func Blame(e *app.Env) *cli.Command {
	var o blameOptions
	return &cli.Command{
		Name:      "blame",
		Usage:     "show the source messages of each line",
		ArgsUsage: "<rev>",
		Description: "The lines are those of \"mem show --format md\". CONF is the share of the line that its\n" +
			"messages contain, 100 if the line occurs word for word. A line without a source is\n" +
			"marked ??. For a hash of \"mem log --handed\", prints the sources of the lines that a hook\n" +
			"handed over.",
		Flags: []cli.Flag{
			app.ParsedFlag(&o.lines, "lines,L", "print the lines `FROM,TO` only", parseLines),
			app.StringFlag(&o.reverse, "reverse", "print the lines that came from `REV`, a message such as abc1#234"),
		},
		Action: app.Action(e, 1, 1, o.run),
	}
}

func (o *blameOptions) run(ctx context.Context, run app.Run) error {
	app.SpendMemory()
	name := run.Operand(0)
	rev, err := run.Resolve(ctx, name)
	if err != nil {
		if h, handed, bad := handedLines(run.Env, name); bad == nil && len(handed) > 0 {
			return blameHanded(run.Env, h, handed)
		}
		return err
	}
	lines, err := provenance.Blame(ctx, run.DB, rev)
	if errors.Is(err, provenance.ErrNotBlamable) {
		return notBlamable(ctx, run, rev, err)
	}
	if err != nil {
		return err
	}
	all := len(lines)
	if o.lines.from > all {
		return app.Usagef("option --lines cannot be %d: there are %d lines", o.lines.from, all)
	}
	if o.lines.from > 0 {
		lines = lines[o.lines.from-1 : min(o.lines.to, all)]
	}
	if o.reverse != "" {
		name := o.reverse
		if strings.HasPrefix(name, "#") && rev.Session != nil {
			name = rev.Session.ID + name
		}
		from, err := run.ResolveSession(ctx, name)
		if err != nil {
			return err
		}
		lines = provenance.FilterBlame(lines, from)
	}
	return printBlame(run.Env, *o, rev, lines)
}

// notBlamable adds a hint to the error about a revision whose lines have no sources: a session's newest version, or how
// to make one.
func notBlamable(ctx context.Context, run app.Run, rev state.Rev, err error) error {
	if rev.Session == nil {
		return err
	}
	id := term.ShortID(rev.Session.ID)
	if _, none := run.Resolve(ctx, id+":latest"); none == nil {
		return app.WithHint(err, term.Shell("mem", "blame", id+":latest")+"  # its newest version",
			term.Shell("mem", "show", id, "--format", "md")+"  # the messages themselves")
	}
	return app.WithHint(err, term.Shell("mem", "compress", id)+"  # makes a version",
		term.Shell("mem", "show", id, "--format", "md")+"  # the messages themselves")
}

func printBlame(e *app.Env, o blameOptions, rev state.Rev, lines []provenance.BlameLine) error {
	answer := view.BlameOf(rev, lines)
	none := o.reverse != "" && len(lines) == 0
	if e.Opt.JSON {
		if err := e.PrintJSON("blame", answer); err != nil {
			return err
		}
	} else if err := blameTable(e, rev, lines); err != nil {
		return err
	}
	if none {
		e.Note("no line of %s came from %s", rev.Name(), o.reverse)
		return app.Exit(app.ExitNo)
	}
	if unsupported := answer.Unsupported; unsupported > 0 {
		e.Note("%d of %d lines %s no supporting message: %s", unsupported, answer.Content,
			map[bool]string{true: "has", false: "have"}[unsupported == 1], unsupportedLines(lines))
	}
	return nil
}

// unsupportedLines returns the numbers of the first lines without a supporting message.
func unsupportedLines(lines []provenance.BlameLine) string {
	const most = 20
	var numbers []string
	for _, l := range lines {
		if l.Frame || l.Supported {
			continue
		}
		if len(numbers) == most {
			return "line " + strings.Join(numbers, ", ") + ", …"
		}
		numbers = append(numbers, strconv.Itoa(l.Line))
	}
	return "line " + strings.Join(numbers, ", ")
}

func blameTable(e *app.Env, rev state.Rev, lines []provenance.BlameLine) error {
	e.Page("blame")
	t := e.Table(app.Column{Name: "from", Max: 10}, app.Column{Name: "said by", Max: 12}, "date", "keepit",
		app.Column{Name: "conf", Right: true}, app.Column{Name: "line", Right: true}, app.Column{Name: "text", Shrinks: true})
	for _, l := range lines {
		who, confidence := speaker(l)
		t.Row(blameFrom(e, rev, l), who, blameDate(e, l.Time), strings.TrimSpace(l.Marker+" "+l.Keep), confidence, l.Line, l.Text)
	}
	return t.Flush()
}

// blameFrom returns the messages of a line, with their session if there are several.
func blameFrom(e *app.Env, rev state.Rev, l provenance.BlameLine) app.Cell {
	switch {
	case l.Frame:
		return app.Cell{}
	case !l.Supported:
		return app.Cell{Full: "??", Paint: e.Style().Red}
	}
	text := term.Ranges(l.Messages)
	if rev.Kind == state.IsComposition && l.Session != nil {
		return app.Cell{Full: l.Session.ID + " " + text, Short: term.ShortID(l.Session.ID) + " " + text,
			Paint: e.Style().Yellow}
	}
	return app.Cell{Full: text, Paint: e.Style().Yellow}
}

// speaker returns who said a line, and the confidence in that.
func speaker(l provenance.BlameLine) (who, confidence string) {
	switch {
	case l.Frame:
		return "", ""
	case !l.Supported:
		who = "no source"
	case l.Role == "":
		who = fmt.Sprintf("%d messages", version.Messages(l.Messages))
	default:
		who = l.Role
	}
	return who, fmt.Sprint(l.Confidence)
}

// blameDate returns the date of a message for people.
func blameDate(e *app.Env, text string) app.Cell {
	c := app.Cell{Full: text}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		c.Short = e.Local(t).Format("2 Jan 15:04")
	}
	return c
}
