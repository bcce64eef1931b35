package searchcmd

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/search"
	"github.com/memvcs/mem/layers/sessions"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/view"
)

type suggestOptions struct {
	files   []string
	topics  []string
	related bool
	budget  int
	number  int
}

// Suggest returns mem suggest.
func Suggest(e *app.Env) *cli.Command {
	o := suggestOptions{budget: 8000, number: 5}
	return &cli.Command{
		Name:      "suggest",
		Usage:     "suggest sessions and versions for a task",
		ArgsUsage: "[<words>...]",
		Description: "Lists the sessions that worked on the files and topics, and for each the form that fits\n" +
			"the budget: the original, a version, or a new version of that size. Without files and\n" +
			"topics, lists the newest sessions with their time instead of a score. The list can be\n" +
			"composed:\n\n" +
			"  mem suggest --topic retries | mem compose NAME -",
		Flags: []cli.Flag{
			app.RepeatedFlag(&o.files, "files,file",
				"the task is about `FILE`: a name, the end of a path, or a pattern; repeat or separate by commas"),
			app.RepeatedFlag(&o.topics, "topic", "the task is about `WORDS`; repeat for several topics"),
			app.BoolFlag(&o.related, "related",
				"also sessions of other projects that \"mem project relate\" related to this one"),
			app.ParsedFlag(&o.budget, "budget", "suggest at most `T` tokens in all, such as 8k (the default)",
				app.ParseTokens),
			app.IntFlag(&o.number, "number,n", "suggest at most `N` sessions"),
		},
		Action: func(c *cli.Context) error {
			if o.number < 1 {
				return app.Usagef("option --number cannot be %d: want a whole number from 1", o.number)
			}
			if words := strings.TrimSpace(strings.Join(e.Operands, " ")); words != "" {
				o.topics = append(o.topics, words)
			}
			return runSuggest(c.Context, e, o)
		},
	}
}

func runSuggest(ctx context.Context, e *app.Env, o suggestOptions) error {
	var files []string
	for _, f := range o.files {
		for name := range strings.SplitSeq(f, ",") {
			if name = strings.TrimSpace(name); name != "" {
				files = append(files, name)
			}
		}
	}
	return app.WithStore(e, func(m *layers.Memory) error {
		projects, err := Scope(ctx, e, m)
		if err != nil {
			return err
		}
		req := search.SuggestRequest{Files: files, Topics: o.topics, Budget: o.budget, Limit: o.number}
		why := map[string]string{}
		if o.related {
			var related []sessions.Relation
			if projects, req.Only, related, err = WithRelated(ctx, m, projects); err != nil {
				return err
			}
			for _, r := range related {
				why[string(r.From.ID)+r.Session.ID] = r.Reason
			}
		}
		req.Projects = projects
		all, err := search.SuggestSessions(ctx, m.DB, req)
		if err != nil {
			return err
		}
		reason := func(x search.Suggested) string { return why[x.Project+x.Session.ID] }
		if e.Opt.JSON {
			return e.PrintJSON("suggest", nil, "suggestions", view.SuggestionsOf(all, reason))
		}
		if len(all) == 0 {
			e.Note("no matching sessions")
			return app.Exit(app.ExitNo)
		}
		return suggestTable(e, all, len(files)+len(o.topics) > 0, reason)
	})
}

// suggestTable prints suggestions. Without files and topics, a score only reflects the age of a session: the table has
// its time instead.
func suggestTable(e *app.Env, all []search.Suggested, asked bool, why func(search.Suggested) string) error {
	rank := app.Column{Name: "score", Right: true}
	if !asked {
		rank = app.Column{Name: "when"}
	}
	t := e.Table("revision", rank, "version", app.Column{Name: "tokens", Right: true}, app.Column{Name: "topics", Max: 24},
		app.Column{Name: "files", Max: 32}, app.Column{Name: "title", Shrinks: true})
	for _, x := range all {
		value := app.Cell{Full: strconv.FormatFloat(x.Score, 'f', 2, 64)}
		if !asked {
			value = e.TimeCell(time.Unix(x.Session.Last, 0))
		}
		full := x.Session.ID + strings.TrimPrefix(x.Rev, term.ShortID(x.Session.ID))
		t.Row(app.Cell{Full: full, Short: x.Rev}, value, x.Version,
			app.Cell{Full: strconv.Itoa(x.Tokens), Short: tokens.Commas(x.Tokens)}, strings.Join(x.Topics, ", "),
			strings.Join(x.Files, ", "), suggestTitle(x.Session.Title, why(x)))
	}
	return t.Flush()
}

// suggestTitle returns the title of a suggested session, with the reason if it is related.
func suggestTitle(title, why string) string {
	if why == "" {
		return title
	}
	return strings.TrimSpace(title + " (related: " + why + ")")
}
