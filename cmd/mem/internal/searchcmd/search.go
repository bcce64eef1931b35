package searchcmd

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/projects"
	"github.com/memvcs/mem/layers/search"
	"github.com/memvcs/mem/layers/search/index"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/layers/view"
	"github.com/memvcs/mem/refs"
	"github.com/urfave/cli/v2"
)

// Options are the options of mem search.
type Options struct {
	Patterns []string
	Files    []string
	Since    time.Time
	Until    time.Time
	Topic    string
	Keepit   func(weight int) bool // nil for any
	Roles    []string
	In       string
	Branch   string
	By       string
	Number   int
	context  int
	list     bool
	related  bool
	rewound  bool
	Open     bool // only what is open
	batch    string
	limited  bool // --number was given
}

// Search returns mem search.
func Search(e *app.Env) *cli.Command {
	o := Options{By: string(search.ByMessage), Number: 10}
	return &cli.Command{
		Name:      "search",
		Usage:     "search messages, facts, rules and versions",
		ArgsUsage: "[<words>...]",
		Description: "Lists the best matches first: messages of the user and the model, tool calls with their\n" +
			"files, commands and errors, facts, concepts, rules, versions and compositions. A hit has\n" +
			"the request of its exchange and the passage that answers; \"mem show SESSION#N..M\" prints\n" +
			"its messages. A phrase in double quotes and a regular expression must match exactly. A hit\n" +
			"marked as context has no word of the query: a message next to it has. An edit that a newer\n" +
			"exchange changed says \"changed later in\", and the newer hit is above it. A page of ten has\n" +
			"three hits of a session at most. \"What is still open\" lists what --open does, \"what did I\n" +
			"reject\" lists rejected plans and calls. Outside of a known project, all projects are searched.",
		Flags: []cli.Flag{
			app.RepeatedFlag(&o.Patterns, "regexp,e", "the text must match `REGEXP`; repeat for several"),
			app.RepeatedFlag(&o.Files, "file", "the call must be about `FILE`: a name, the end of a path, or a pattern"),
			e.Since(&o.Since, "written"), e.Until(&o.Until, "written"),
			app.StringFlag(&o.Topic, "topic", "in sessions with `TOPIC`"),
			app.ParsedFlag(&o.Keepit, "keepit", "with a marker whose weight meets `COND`: >=0.5, <0.8 or 1.00", ParseWeights),
			app.RepeatedFlag(&o.Roles, "role", "written by `ROLE`: user, script, assistant, plan, agent, tool, summary or note"),
			app.StringFlag(&o.In, "in",
				"look in `LAYERS`: L1 (or original), L2, L3, L4, versions, compositions, notes, separated by commas"),
			app.StringFlag(&o.Branch, "branch", "in sessions on this git `BRANCH`"),
			app.ChoiceFlag(&o.By, "by", "a hit is a `UNIT`: message, session or file", "message", "session", "file"),
			app.IntFlag(&o.Number, "number,n", "print the best `N` only, 10 by default; 0 prints all"),
			app.IntFlag(&o.context, "context,C", "print `N` lines before and after each match"),
			app.BoolFlag(&o.related, "related",
				"also in sessions of other projects that \"mem project relate\" related to this one"),
			app.BoolFlag(&o.rewound, "rewound", "also in turns that the user withdrew"),
			app.BoolFlag(&o.Open, "open",
				"only what is open in any session: rejected plans, interrupted requests, todos, questions and issues, the newest "+
					"first; \"mem next\" has that of the ten newest"),
			app.BoolFlag(&o.list, "list,l", "print the names of sessions only"),
			app.StringFlag(&o.batch, "batch", "answer each line of `FILE` with a JSON array"),
		},
		Action: func(c *cli.Context) error {
			o.limited = c.IsSet("number")
			q, err := Query(e, strings.Join(e.Operands, " "), o)
			if err != nil {
				return err
			}
			if o.batch != "" {
				if err := e.WantOperands(c, 0, 0); err != nil {
					return err
				}
				return runSearchBatch(c.Context, e, o, q)
			}
			return runSearch(c.Context, e, o, q)
		},
	}
}

// Query builds the query from words and options.
func Query(e *app.Env, words string, o Options) (q search.Query, err error) {
	if o.Number < 0 || o.context < 0 {
		return q, app.Usagef("the numbers of hits and of lines around them are whole numbers from 0")
	}
	q = search.Ask(words, e.Now())
	q.By, q.Limit = search.Unit(o.By), o.Number
	if o.list {
		q.By = search.BySession
	}
	for _, p := range o.Patterns {
		re, err := regexp.Compile(p)
		if err != nil {
			return q, app.Usagef("regular expression %q: %v", p, err)
		}
		q.Patterns = append(q.Patterns, re)
	}
	asked := q.Filter
	if q.Filter, err = searchFilter(e, o); err != nil {
		return q, err
	}
	if q.Phrase != "" && (!o.Since.IsZero() || !o.Until.IsZero()) { // an option is meant as it stands
		q = search.Query{Words: search.Parse(words).Words, By: q.By, Limit: q.Limit, Patterns: q.Patterns, Filter: q.Filter}
	} else if q.Phrase != "" {
		q.Filter.Since, q.Filter.Until, q.Filter.Requests = asked.Since, asked.Until, asked.Requests
	}
	if q.Filter.Pending == 0 {
		q.Filter.Pending = asked.Pending
	}
	if q.Filter.Pending != 0 && q.By == search.ByFile {
		return q, app.Usagef("what is open has no files: search by message or session")
	}
	if o.batch == "" && q.Blank() {
		return q, app.Usagef("a search needs words, a regular expression or a filter")
	}
	return q, nil
}

func searchFilter(e *app.Env, o Options) (f search.Filter, err error) {
	f.Files, f.Branch, f.Topic, f.Rewound, f.Keepit = o.Files, o.Branch, o.Topic, o.rewound, o.Keepit
	if o.Open {
		f.Pending = search.Open
	}
	if !o.Since.IsZero() {
		f.Since = o.Since.Unix()
	}
	if !o.Until.IsZero() {
		f.Until = o.Until.Unix()
	}
	for _, r := range o.Roles {
		if !f.Role(r) {
			return f, app.Usagef("role %q is unknown: want user, script, assistant, plan, agent, tool, summary or note", r)
		}
	}
	return f, layersOf(o.In, &f)
}

// layersOf restricts a filter to the layers in, a list separated by commas.
func layersOf(in string, f *search.Filter) error {
	if in == "" {
		return nil
	}
	var classes []index.Class
	for name := range strings.SplitSeq(in, ",") {
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "l1", "original":
			classes = append(classes, index.Messages()...)
		case "l2", "facts":
			classes = append(classes, index.Fact)
		case "l3", "concepts":
			classes = append(classes, index.Concept)
		case "l4", "rules":
			classes = append(classes, index.Rule)
		case "versions":
			classes = append(classes, index.Version)
		case "compositions":
			classes = append(classes, index.Composition)
		case "notes":
			classes = append(classes, index.ClaudeNote)
		default:
			return app.Usagef(
				"layer %q is unknown: want L1, original, L2, L3, L4, versions, compositions or notes, separated by commas", in)
		}
	}
	if len(f.Classes) > 0 { // of the roles
		classes = slices.DeleteFunc(classes, func(c index.Class) bool { return !slices.Contains(f.Classes, c) })
		if len(classes) == 0 {
			return app.Usagef("the roles and the layers have nothing in common")
		}
	}
	f.Classes = classes
	return nil
}

// ParseWeights parses a condition on the weight of a marker, such as >=0.5.
func ParseWeights(s string) (func(int) bool, error) {
	s = strings.TrimSpace(s)
	number := strings.TrimLeft(s, "<>=")
	op := s[:len(s)-len(number)]
	number = strings.TrimSpace(number)
	switch {
	case len(number) == 1:
		number += ".00"
	case len(number) == 3:
		number += "0"
	}
	w, err := keepit.ParseWeight(number)
	if err == nil {
		n := int(w)
		switch op {
		case ">=":
			return func(x int) bool { return x >= n }, nil
		case ">":
			return func(x int) bool { return x > n }, nil
		case "<=":
			return func(x int) bool { return x <= n }, nil
		case "<":
			return func(x int) bool { return x < n }, nil
		case "", "=", "==":
			return func(x int) bool { return x == n }, nil
		}
	}
	return nil, errors.New("want >=, >, <=, < or = and a weight from 0.00 to 1.00")
}

// Scope returns the projects to search: the project of the run, or all if it is not in memory.
func Scope(ctx context.Context, e *app.Env, m *layers.Memory) ([]refs.Project, error) {
	if !e.Opt.AllProjects {
		p, err := app.TheProject(ctx, e, m)
		if err != nil {
			return nil, err
		}
		has, err := projects.HasProject(ctx, m.DB, p.ID)
		if err != nil || has || e.Opt.Project != "" {
			return []refs.Project{p.ID}, err
		}
		e.Detail("%s is in no project: searching all projects", e.Dir)
	}
	all, err := trust.Projects(ctx, m.DB)
	var ids []refs.Project
	for _, p := range all {
		ids = append(ids, p.ID)
	}
	return ids, err
}

func runSearch(ctx context.Context, e *app.Env, o Options, q search.Query) error {
	app.RelaxGC()
	return app.WithStore(e, func(m *layers.Memory) error {
		s, projects, err := searcher(ctx, e, m, o.related, &q)
		if err != nil {
			return err
		}
		defer s.Close()
		place, whole, err := placeOf(ctx, e, m, projects, o.related)
		if err != nil {
			return err
		}
		found, err := s.Search(ctx, q)
		if err != nil {
			return err
		}
		if len(found.Hits) == 0 {
			if !e.Opt.JSON {
				notes(e, q, found, place)
				e.Note("no match in %s", place)
				if q.Filter.Pending == 0 {
					hintOutput(e)
				}
				if !whole {
					if err := noteElsewhere(ctx, e, m, q); err != nil {
						return err
					}
				}
			} else if missing := found.Missing; len(missing) > 0 {
				if err := printJSONLine(e, app.Object{"total", 0, "missing", missing}); err != nil {
					return err
				}
			}
			if err := app.HintUntrusted(ctx, e, m); err != nil {
				return err
			}
			return app.Exit(app.ExitNo)
		}
		if err := app.HintUntrusted(ctx, e, m, projects...); err != nil {
			return err
		}
		if e.Opt.JSON {
			return jsonHits(e, found)
		}
		lacking := slices.ContainsFunc(found.Missing, func(u search.Unknown) bool { return u.Searched == search.OtherWords })
		if lacking && !o.limited { // the word that tells most is in no text: what the others find is a guess
			found.Hits = found.Hits[:min(len(found.Hits), mostGuesses)]
		}
		if err := printHits(e, o, q, place, found); err != nil || !lacking {
			return err
		}
		hintOutput(e)
		return nil
	})
}

// mostGuesses is the number of hits that are listed for a query with a word that no text has.
const mostGuesses = 3

// hintOutput says where else a word can be, which no searched text has.
func hintOutput(e *app.Env) {
	e.Hint("what a successful command or tool printed is not searched; to look there: mem show SESSION --format text | grep WORD")
}

// placeOf returns what was searched, in words, and whether that is the whole memory.
func placeOf(ctx context.Context, e *app.Env, m *layers.Memory, searched []refs.Project, related bool) (string, bool, error) {
	if e.Opt.AllProjects {
		return "all projects", true, nil
	}
	p, err := app.TheProject(ctx, e, m)
	switch {
	case err != nil:
		return "", false, err
	case !slices.Contains(searched, p.ID):
		return "all projects", true, nil
	case related:
		return "project " + p.Name + " and related sessions", false, nil
	}
	return "project " + p.Name, false, nil
}

// noteElsewhere says what the query, which has no match in a project, finds in the others.
func noteElsewhere(ctx context.Context, e *app.Env, m *layers.Memory, q search.Query) error {
	s, err := search.SearcherOfAll(ctx, m.DB)
	if err != nil {
		return err
	}
	defer s.Close()
	q.Filter.Only = nil
	found, err := s.Search(ctx, q)
	if err != nil || len(found.Hits) == 0 {
		return err
	}
	e.Note("%s of other projects: --all-projects", counted(q, found))
	return nil
}

// runSearchBatch answers the queries of a file, each as one JSON array.
func runSearchBatch(ctx context.Context, e *app.Env, o Options, like search.Query) error {
	b, err := os.ReadFile(o.batch)
	if err != nil {
		return fmt.Errorf("read the queries: %w", err)
	}
	return app.WithStore(e, func(m *layers.Memory) error {
		s, _, err := searcher(ctx, e, m, o.related, &like)
		if err != nil {
			return err
		}
		defer s.Close()
		in := bufio.NewScanner(bytes.NewReader(b))
		in.Buffer(nil, len(b)+1)
		for in.Scan() {
			q := search.Parse(in.Text())
			q.Patterns, q.Filter, q.By, q.Limit = like.Patterns, like.Filter, like.By, like.Limit
			var found search.Results // none for a line that asks for nothing
			if !q.Blank() {
				if found, err = s.Search(ctx, q); err != nil {
					return err
				}
			}
			if err := printJSONLine(e, view.Hits(found)); err != nil {
				return err
			}
		}
		return nil
	})
}
