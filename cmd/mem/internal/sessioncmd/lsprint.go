package sessioncmd

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/sessions"
	"github.com/memvcs/mem/layers/tokens"
)

// noteNothingListed notes that a list is empty; some reports whether the options excluded all sessions, new whether other projects
// have sessions that are not in memory.
func noteNothingListed(ctx context.Context, run app.Run, some, new bool) error {
	if some {
		run.Note("no matching sessions")
		return nil
	}
	subagents, hidden, err := unlisted(ctx, run)
	switch {
	case err != nil:
		return err
	case hidden > 0:
		run.Note("the sessions of project %s are hidden: %d", run.Project.Name, hidden)
		run.Hint("mem ls --removed")
		return nil
	case subagents > 0:
		run.Note("project %s has only sessions of subagents: %d", run.Project.Name, subagents)
		run.Hint("mem ls --subagents")
		return nil
	}
	run.Note("no sessions of project %s", run.Project.Name)
	h, ok, err := app.Unlinked(ctx, run)
	if err != nil {
		return err
	}
	if ok {
		run.Hint("%s: %s", h.Why, h.Command)
	}
	if new || !ok {
		run.Hint("capture all of Claude Code's sessions with \"mem import\", or list other projects with --all-projects")
	}
	return nil
}

// lsTable prints the list. For people months have headings, unless it is sorted by tokens or ui.defaultView is list.
func lsTable(run app.Run, o lsOptions, items []Listed) error {
	conf, err := run.Settings()
	if err != nil {
		return err
	}
	t := run.List("ls", "sessions", app.Column{}, "id", "when", app.Column{Name: "msgs", Right: true},
		app.Column{Name: "tokens", Right: true, Estimate: true}, "versions", app.Column{Name: "markers", Right: true},
		run.ProjectColumn(), app.Column{Name: "title", Shrinks: true})
	t.Page, t.Format = "ls", o.format
	unique := uniquePrefixes(items)
	month, months := "", conf.String("ui.defaultView") == "timeline" && o.sort != "tokens" && len(items) > 0 &&
		items[0].Last.Format("2006-01") != items[len(items)-1].Last.Format("2006-01")
	for i, it := range items {
		if name := it.Last.Format("January 2006"); months && name != month {
			t.Heading(name)
			month = name
		}
		title := app.Cell{Full: it.titleText()}
		if it.Title == "" && it.Parent != "" {
			title.Short = "(subagent of " + term.ShortID(it.Parent) + ")"
		}
		if it.Session != nil && it.Session.ForkOf() != "" {
			title.Short = "(fork of " + term.ShortID(it.Session.ForkOf()) + ") " + it.titleText()
		}
		if it.Status == sessions.Removed {
			title.Short = "(hidden) " + it.titleText()
		}
		if it.on != "" {
			title.Short = "(on " + it.on + ") " + it.titleText()
		}
		mark := it.mark()
		mark.Paint = run.Style().Green
		t.Add(it.view(), mark, app.IdCell(it.ID, unique[i]),
			it.Last, cmp.Or(app.If(it.Status == sessions.Untracked, "-"), fmt.Sprint(it.Messages)), tokensCell(it.Tokens, it.Counted), labelsCell(it), it.Markers,
			it.project.Name, title)
	}
	return t.Print("project", run.Project.Name)
}

// titleText returns the title of a session, with the reason if it is hidden.
func (it Listed) titleText() string {
	if it.Status == sessions.Revoked {
		return it.Title + " (hidden: " + it.Session.Revoked + ")"
	}
	return it.Title
}

// mark returns the mark of a session: for scripts its status, for people a letter.
func (it Listed) mark() app.Cell {
	letter := map[sessions.Status]string{sessions.Changed: "M", sessions.Untracked: "?", sessions.Removed: "D",
		sessions.Revoked: "R"}[it.Status]
	if it.newest {
		return app.Cell{Full: string(it.Status) + ",newest", Short: "*" + letter}
	}
	return app.Cell{Full: string(it.Status), Short: " " + letter}
}

// labelsCell returns the labels of the versions; for people those of the newest and their number, if there are more.
func labelsCell(it Listed) app.Cell {
	const most = 4
	var labels []string
	for _, v := range it.Versions {
		label := v.Name()
		if v.Deleted || v.Revoked != "" {
			label += " (hidden)"
		}
		labels = append(labels, label)
	}
	n := len(labels)
	if n == 0 {
		return app.Cell{Full: "-"}
	}
	c := app.Cell{Full: strings.Join(labels, " ")}
	if n > most {
		c.Short = fmt.Sprintf("(%d) %s", n, strings.Join(labels[n-most:], " "))
	}
	return c
}

// uniquePrefixes returns for each item the length of the shortest prefix of its id, at least 4, that only branches of the same
// session have.
func uniquePrefixes(items []Listed) []int {
	order := make([]int, len(items))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(items[a].ID, items[b].ID) })
	out := make([]int, len(items))
	for k, i := range order {
		out[i] = max(out[i], 4)
		if k == 0 {
			continue
		}
		before := order[k-1]
		a, _ := records.CutDevice(items[before].ID)
		b, _ := records.CutDevice(items[i].ID)
		if a == b {
			out[i] = out[before]
			continue
		}
		n := 1 + term.Common(a, b)
		out[i], out[before] = max(out[i], min(n, len(b))), max(out[before], min(n, len(a)))
	}
	return out
}

// tokensCell returns the cell of a number of tokens, "?" if not counted.
func tokensCell(n int, counted bool) app.Cell {
	if !counted {
		return app.Cell{Full: "?"}
	}
	return app.Cell{Full: fmt.Sprint(n), Short: tokensText(n, counted)}
}

// tokensText returns a number of tokens for people, "?" if not counted.
func tokensText(n int, counted bool) string {
	if !counted {
		return "?"
	}
	return "~" + tokens.Format(n)
}
