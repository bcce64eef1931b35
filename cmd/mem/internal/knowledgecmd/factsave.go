package knowledgecmd

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/answers"
	"github.com/memvcs/mem/layers/knowledge"
	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/tokens"
)

type factsDraftOptions struct {
	all, backlog bool
	tokens       int
	after        int
}

// A factsSaveOptions are the options of mem facts save.
type factsSaveOptions struct {
	session, by   string
	next, backlog bool
}

// factsWriteCommands returns the subcommands that create facts from a session.
func factsWriteCommands(e *app.Env) []*cli.Command {
	var o factsDraftOptions
	var saved factsSaveOptions
	return []*cli.Command{
		{Name: "draft", Usage: "print undistilled messages with the instruction", ArgsUsage: "[<session>]",
			Description: "Without an operand, prints the newest session. A long session is printed in parts;\n" +
				"messages that are distilled are not printed again. After the last one, prints the\n" +
				"questions of \"mem facts verify\".",
			Flags: []cli.Flag{
				app.ParsedFlag(&o.tokens, "tokens", "print at most about `T` tokens, instruction included; default 7.8k",
					app.ParseTokens),
				app.ParsedFlag(&o.after, "after", "print messages after `N` only", app.NotNegative),
				app.BoolFlag(&o.all, "all", "print distilled messages too"),
				app.BoolFlag(&o.backlog, "backlog", "print the oldest session of the project that is not distilled"),
			},
			Action: app.Action(e, 0, 1, o.draft)},
		{Name: "schema", Usage: "print the JSON schema of what save reads",
			Action: e.Action(0, 0, func(c *cli.Context) error {
				return runFactsSchema(e)
			})},
		{Name: "save", Usage: "look facts up and save those whose quotes exist, and record answers", ArgsUsage: "[<file>]",
			Description: "Reads one JSON object from the file or standard input: the answer to \"mem facts draft\" or\n" +
				"\"mem facts verify\". Accepted facts are saved and listed with their ids and notes, rejected\n" +
				"ones with the reason; answers make facts verified, reword or remove them; exchanges get\n" +
				"the concepts that they name. The exit status is 3 if some facts were rejected, and 1 if\n" +
				"all were and nothing was saved. Malformed input saves nothing; the error names the field.",
			Flags: []cli.Flag{
				app.StringFlag(&saved.session, "session,s", "assign the facts to `SESSION`, overriding the input"),
				app.BoolFlag(&saved.next, "next", "print what comes next: questions about the facts, and the next part of the session"),
				app.BoolFlag(&saved.backlog, "backlog", "as --next, and go on with the other sessions of the project, the oldest first"),
				app.ParsedFlag(&saved.by, "by", "who answered: `NAME`; default claude in a session of Claude Code, else user or script",
					app.LineParser("a name", 80)),
			},
			Action: e.Action(0, 1, func(c *cli.Context) error {
				return runFactsSave(c.Context, e, saved, e.Operand(0))
			})},
	}
}

// draftTokens is the maximum length of a draft: Claude Code cuts outputs of tools after 30,000 characters.
const draftTokens = 7800

// factTokens is about what save prints of a fact before the next part.
const factTokens = 40

func (o *factsDraftOptions) draft(ctx context.Context, run app.Run) error {
	if o.backlog && len(run.Operands) > 0 {
		return app.Usagef("--backlog is every session: name none")
	}
	if o.tokens == 0 {
		o.tokens = draftTokens
	}
	var rev state.Rev
	var err error
	if rev.Project = run.Project; !o.backlog {
		if rev, err = run.ResolveSession(ctx, app.OrNewest(run.Operand(0))); err != nil {
			return err
		}
	}
	draft := knowledge.DraftOptions{All: o.all, MaxTokens: o.tokens, Whole: true, After: o.after}
	t := knowledge.Task{}
	if !o.backlog {
		t.Draft, err = knowledge.DraftFacts(ctx, run.DB, rev, draft)
	}
	if err == nil && t.Draft.To == 0 && !o.all {
		t, err = knowledge.NextTask(ctx, run.DB, rev.Project, rev.Session, knowledge.TaskOptions{DraftOptions: draft, Backlog: o.backlog})
	}
	if err != nil {
		return err
	}
	d := t.Draft
	if d.Printed > o.tokens && d.To > 0 {
		const step = 100
		need := strconv.Itoa((d.Printed + step - 1) / step * step)
		return app.WithHint(fmt.Errorf("the draft up to message %d needs about %s tokens, more than %s", d.Lines[0].N,
			tokens.Commas(d.Printed), tokens.Commas(o.tokens)),
			term.Shell("mem", "facts", "draft", term.ShortID(d.Session.ID), "--tokens", need))
	}
	switch {
	case run.Opt.JSON:
		return taskJSON(run.Env, t)
	case !t.Empty():
		printTask(run.Env, t, o.backlog, knowledge.Seen{})
	case o.backlog:
		run.Note("every session of project %s is distilled, and every fact verified", run.Project.Name)
	default:
		run.Note("%s is distilled up to its last message, %d", term.ShortID(rev.Session.ID), rev.Session.Now().Scan.Values)
	}
	return nil
}

// printTask prints what is to be done, and the command that takes the answer.
func printTask(e *app.Env, t knowledge.Task, backlog bool, seen knowledge.Seen) {
	for _, n := range t.Questions {
		e.Printf("Session %s%s: %s", e.Safe(term.ShortID(n.Session.ID)), titleText(n.Session.Title()), term.Count(len(n.Questions), "question"))
		if n.Left > 0 {
			e.Printf("; %d more follow once these are answered", n.Left)
		}
		e.Printf("\n")
	}
	for _, d := range t.Drafts() {
		e.Printf("Session %s%s: messages %d to %d of %d, about %s tokens", e.Safe(term.ShortID(d.Session.ID)),
			titleText(d.Session.Title()), d.From, d.To, d.Total, tokens.Commas(d.Tokens))
		if d.Left > 0 {
			e.Printf("; %s more follow once these are saved", tokens.Commas(d.Left))
		}
		e.Printf("\n")
	}
	command := cmp.Or(app.If(backlog, "mem facts save --backlog <<'END'"), "mem facts save --next <<'END'")
	e.Printf("\n%s", e.Safe(t.Instruction(command, seen)))
}

func titleText(title string) string { return app.If(title != "", " "+term.Quoted(title)) }

func taskJSON(e *app.Env, t knowledge.Task) error {
	if len(t.Questions) > 0 && t.Draft.To == 0 {
		return questionsJSON(e, t.Questions[0])
	}
	d, session := t.Draft, ""
	if d.Session != nil {
		session = d.Session.ID
	}
	return e.PrintJSON("facts.draft", nil, "session", session, "from", d.From, "to", d.To,
		"messages", d.Total, "tokens", d.Tokens, "tokensLeft", d.Left,
		"lines", append([]knowledge.DraftLine{}, d.Lines...), "known", append([]facts.Fact{}, d.Open...),
		"concepts", append([]string{}, d.Concepts...))
}

func runFactsSchema(e *app.Env) error {
	if e.Opt.JSON {
		return e.PrintJSON("facts.schema", nil, "input", facts.Schema())
	}
	b, err := json.MarshalIndent(facts.Schema(), "", "  ")
	if err != nil {
		return err
	}
	e.Printf("%s\n", b)
	return nil
}

// factsInput reads the input of mem facts save.
func factsInput(e *app.Env, name string) ([]byte, error) {
	const most = 16 << 20
	in := e.Stdin
	if name != "" && name != "-" {
		f, err := os.Open(e.Path(name))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, app.WithHint(err, "mem facts save FILE --session SESSION", "without FILE it reads stdin")
		}
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	} else if e.Term.Stdin {
		e.Note("reading JSON from the terminal; end it with Ctrl-D")
	}
	b, err := io.ReadAll(io.LimitReader(in, most))
	if err != nil {
		return nil, fmt.Errorf("read facts: %w", err)
	}
	return b, nil
}

// reader returns the name of the reader who answers.
func (o factsSaveOptions) reader(e *app.Env) string {
	switch {
	case o.by != "":
		return o.by
	case e.Getenv("CLAUDECODE") != "":
		return "claude"
	case e.Term.Stderr:
		return "user"
	}
	return "script"
}

func runFactsSave(ctx context.Context, e *app.Env, o factsSaveOptions, file string) error {
	b, err := factsInput(e, file)
	if err != nil {
		return err
	}
	list, err := decodeInputs(b, o.session)
	if err != nil {
		return err
	}
	conf, err := e.Settings()
	if err != nil {
		return err
	}
	most := conf.Int("facts.maxPerSession")
	return app.WithMemory(ctx, e, func(run app.Run) error {
		rev := state.Rev{Project: run.Project}
		asked, room, local := false, draftTokens, map[string]facts.Fact{}
		var done error
		for i, given := range list {
			asked = asked || len(given.Answers) > 0
			if session := cmp.Or(o.session, given.Session); session != "" {
				if rev, err = run.ResolveSession(ctx, session); err != nil {
					return err
				}
			}
			by := o.reader(e)
			saved, err := knowledge.SaveFacts(ctx, run.DB, rev, given, knowledge.SaveOptions{MaxFacts: most, Asked: by, Local: local,
				DryRun: e.Opt.DryRun})
			var input *answers.Error
			switch {
			case errors.As(err, &input) && i > 0:
				return app.WithHint(err, fmt.Sprintf("the first %d objects were saved: hand the others in again", i))
			case errors.As(err, &input):
				return app.WithHint(err, "nothing was saved: correct it and hand it in again")
			case err != nil && !errors.Is(err, knowledge.ErrAllRejected):
				return err
			}
			room -= factTokens * len(saved.Facts)
			if failed := printSavedFacts(e, saved, by, err); done == nil {
				done = failed
			}
		}
		if !o.next && !o.backlog || e.Opt.JSON || e.Opt.DryRun {
			return done
		}
		t, err := knowledge.NextTask(ctx, run.DB, rev.Project, rev.Session, knowledge.TaskOptions{Backlog: o.backlog,
			DraftOptions: knowledge.DraftOptions{MaxTokens: max(room, draftTokens/2), Whole: true}})
		if err != nil {
			return err
		}
		if t.Empty() {
			e.Note("nothing is left to do; the rules of the project: mem reflect")
			return done
		}
		printTask(e, t, o.backlog, knowledge.Seen{Draft: true, Questions: asked})
		return done
	})
}

// decodeInputs parses one JSON object for each session.
func decodeInputs(b []byte, session string) (list []facts.Input, err error) {
	var parts [][]byte
	dec := json.NewDecoder(bytes.NewReader(b))
	for {
		var one json.RawMessage
		if err := dec.Decode(&one); errors.Is(err, io.EOF) && len(parts) > 0 {
			break
		} else if err != nil {
			parts = [][]byte{b} // in a fence, or malformed: the error says where
			break
		}
		parts = append(parts, one)
	}
	for _, part := range parts {
		given, err := facts.Decode(part)
		if err != nil {
			return nil, app.WithHint(err, "mem facts schema")
		}
		if cmp.Or(session, given.Session) == "" && (len(given.Exchanges) > 0 || len(given.Answers) == 0) {
			return nil, app.WithHint(app.Usagef("session: missing: the session of the facts"),
				"give --session, or a field \"session\"")
		}
		list = append(list, given)
	}
	return list, nil
}

// savedObjects returns the JSON form of facts that were saved or rejected.
func savedObjects(list []knowledge.SavedFact) []app.Object {
	return app.Each(list, func(f knowledge.SavedFact) app.Object {
		return app.Object{"at", f.Path, "known,omitempty", f.Known, "", f.Fact}
	})
}

func printSavedFacts(e *app.Env, s knowledge.SavedFacts, by string, failed error) error {
	if e.Opt.JSON {
		session := ""
		if s.Session != nil {
			session = s.Session.ID
		}
		if err := e.PrintJSON("facts.save", nil, "session", session, "through", s.Through, "accepted", s.Accepted(),
			"rejected", s.Count(facts.Rejected), "facts", savedObjects(s.Facts), "dropped", append([]string{}, s.Dropped...),
			"notes", append([]string{}, s.Notes...), "assigned", s.Assigned, "by", by, "", s.Verification, "dryRun", e.Opt.DryRun); err != nil {
			return err
		}
	} else {
		printSaved(e, s, by, failed != nil)
	}
	switch {
	case failed != nil:
		return app.Exit(app.ExitNo)
	case s.Partly():
		return app.Exit(app.ExitPartial)
	}
	return nil
}

func printSaved(e *app.Env, s knowledge.SavedFacts, by string, none bool) {
	for _, f := range s.Facts {
		id := f.Fact.ID
		if f.Fact.Verdict == facts.Rejected {
			id = f.Path
		}
		e.Printf("%s\t%s\t%s\n", id, f.Fact.Verdict, e.Safe(tokens.OneLine(f.Fact.Text, 80)))
		for _, n := range f.Fact.Notes {
			e.Printf("\t%s\n", e.Safe(n))
		}
	}
	for _, f := range s.Reworded {
		e.Printf("%s\t%s\t%s\n", f.ID, facts.Verified, e.Safe(f.Text))
	}
	for _, d := range slices.Concat(s.Notes, s.Dropped, s.Refused) {
		e.Printf("%s\n", e.Safe(d))
	}
	did, recorded := e.Verb("saved", "would save"), e.Verb("recorded", "would record")
	if none {
		did = "nothing saved"
	}
	if s.Session != nil && (len(s.Facts) > 0 || answersOf(s.Verification) == 0) {
		e.Note("%s: %d accepted, %d rejected; %s is distilled through message %d", did, s.Accepted(), s.Count(facts.Rejected),
			term.ShortID(s.Session.ID), s.Through)
	}
	if s.Count(facts.Rejected) > 0 {
		e.Hint("correct the rejected facts and save them again: quotes must be exact copies")
	}
	if answersOf(s.Verification) > 0 && !none {
		removed := app.If(len(s.Removed) > 0, " ("+strings.Join(s.Removed, ", ")+")")
		e.Note("%s, asked %s: %d verified, %d reworded, %d removed%s", recorded, by, len(s.Verified), len(s.Reworded), len(s.Removed), removed)
	}
}

func answersOf(v knowledge.Verification) int {
	return len(v.Verified) + len(v.Reworded) + len(v.Removed) + len(v.Refused)
}
