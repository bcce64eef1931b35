package forgetcmd

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/forget"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

type forgetOptions struct {
	revs   []string
	match  string
	all    bool
	secret string
	tool   string
	since  time.Time
	until  time.Time
}

// Forget returns mem forget.
func Forget(e *app.Env) *cli.Command {
	o := forgetOptions{}
	return &cli.Command{
		Name:      "forget",
		Usage:     "delete sessions, messages or secrets permanently",
		ArgsUsage: "[<rev>...]",
		Description: "Everything that was derived from them is deleted too: versions, compositions, facts,\n" +
			"concepts, rules. The bytes disappear from this device at once, from a remote with the\n" +
			"next push, and from other devices when they sync. \"mem undo\" can restore neither them\n" +
			"nor what was done before, and they are never captured again. A session can be deleted in part: the remaining messages\n" +
			"keep their numbers. -n lists what would be deleted, with excerpts.\n\n" +
			"--match searches what was said and done: prompts, answers, thinking, tool calls and their\n" +
			"results, attachments, summaries and titles. It ignores the fields that Claude Code writes\n" +
			"into each message, for example the branch, and the commands of hooks, unless --metadata\n" +
			"is given. --secret searches every project, in all spellings of the value; pipe the value\n" +
			"in with --secret - to keep it out of the shell's history. See \"mem help forgetting\".",
		Flags: []cli.Flag{
			app.StringFlag(&o.match, "match", "forget the messages that match the regular expression `RE`"),
			app.BoolFlag(&o.all, "metadata", "with --match: also search directory, branch, model, version, IDs and hook commands"),
			app.StringFlag(&o.secret, "secret", "forget all occurrences of `VALUE`; - reads it from standard input"),
			app.StringFlag(&o.tool, "tool", "forget the results of the tool `NAME`"),
			e.Since(&o.since, "forget the messages"), e.Until(&o.until, "forget the messages"),
		},
		Action: func(c *cli.Context) error {
			o.revs = e.Operands
			ways := min(len(o.revs), 1)
			for _, way := range []struct{ name, value string }{{"match", o.match}, {"secret", o.secret}, {"tool", o.tool}} {
				if !c.IsSet(way.name) {
					continue
				}
				if way.value == "" {
					return app.WithHint(app.Usagef("option --%s is empty", way.name), "mem forget -h")
				}
				ways++
			}
			if c.IsSet("since") || c.IsSet("until") {
				ways++
			}
			if !o.until.IsZero() && !o.since.Before(o.until) {
				return app.Usagef("option --since is not before --until")
			}
			if o.all && o.match == "" {
				return app.WithHint(app.Usagef("option --metadata requires --match"), "mem forget -h")
			}
			if ways != 1 {
				return app.WithHint(app.Usagef("mem forget requires a revision, or one of --match, --secret, --tool, --since and --until"),
					"mem forget -n @", "mem help forgetting")
			}
			return app.WithMemory(c.Context, e, func(run app.Run) error { return runForget(c.Context, run, o) })
		},
	}
}

// toForget returns the selection of the options and operands.
func toForget(ctx context.Context, run app.Run, o forgetOptions) (f forget.ForgetOptions, err error) {
	f.DryRun = run.Opt.DryRun
	switch {
	case len(o.revs) > 0:
		run.Scope.Removed = true // their bytes are still there
		f.Revs, err = run.ResolveAll(ctx, o.revs)
		return f, err
	case o.secret != "":
		f.Secret, err = secretValue(run.Env, o.secret)
		if err != nil {
			return f, err
		}
	case o.match != "":
		if f.Match, err = regexp.Compile(o.match); err != nil {
			return f, app.Usagef("option --match is not a regular expression: %v", errors.Unwrap(fmt.Errorf("%w", err)))
		}
		if f.Match.MatchString("") {
			return f, app.Usagef("option --match matches everything")
		}
		f.Metadata = o.all
	case o.tool != "":
		f.Tool = o.tool
	default:
		f.Since, f.Until = o.since, o.until
	}
	all, err := trust.Projects(ctx, run.DB)
	if err != nil {
		return f, err
	}
	for _, p := range all {
		if f.Secret != nil || run.Opt.AllProjects || p.ID == run.Project.ID {
			f.Projects = append(f.Projects, p)
		}
	}
	if f.Secret != nil {
		f.Projects = append(f.Projects, state.Project{ID: refs.Home, Name: "this device"})
	}
	return f, nil
}

// secretValue returns the value of --secret. It must never be part of an error.
func secretValue(e *app.Env, s string) ([]byte, error) {
	value := []byte(s)
	if s == "-" {
		b, err := io.ReadAll(io.LimitReader(e.Stdin, 1<<20))
		if err != nil {
			return nil, fmt.Errorf("read the value of --secret: %w", err)
		}
		value = bytes.TrimRight(b, "\r\n")
	}
	if len(value) < markers.MinSecret {
		return nil, app.Usagef("option --secret needs at least %d bytes: a shorter value occurs everywhere",
			markers.MinSecret)
	}
	return value, nil
}

func runForget(ctx context.Context, run app.Run, o forgetOptions) error {
	f, err := toForget(ctx, run, o)
	if err != nil {
		return forgetError(ctx, run, err)
	}
	return forgetSelected(ctx, run, o, f)
}

// States forgets states of notes of the project, after a question.
func States(ctx context.Context, run app.Run, all []objects.Hash) error {
	return forgetSelected(ctx, run, forgetOptions{}, forget.ForgetOptions{Projects: []state.Project{run.Project}, Notes: all,
		DryRun: run.Opt.DryRun})
}

// deviceNames returns the names of devices by their IDs.
func deviceNames(ctx context.Context, db *state.DB) (map[string]string, error) {
	devices, err := trust.Devices(ctx, db)
	names := map[string]string{}
	for _, d := range devices {
		names[d.ID] = d.Name
	}
	return names, err
}

// withNames sets the names of devices in items.
func withNames(items []forget.DeletedItem, names map[string]string) {
	for i := range items {
		t := &items[i]
		t.Device, t.Waits = cmp.Or(names[t.Device], t.Device), cmp.Or(names[t.Waits], t.Waits)
		t.NewerOf = cmp.Or(names[t.NewerOf], t.NewerOf)
	}
}

func forgetSelected(ctx context.Context, run app.Run, o forgetOptions, f forget.ForgetOptions) error {
	e := run.Env
	devices, err := deviceNames(ctx, run.DB)
	if err != nil {
		return err
	}
	if f.Claude, err = run.ClaudeDir(); err != nil {
		return err
	}
	if !f.DryRun && !e.Opt.Yes { // without a question, one plan is enough
		plan := f
		plan.DryRun = true
		would, err := forgetWatched(ctx, run, plan)
		if err == nil {
			withNames(would.Things, devices)
			printForgotten(e, would, f.Secret != nil, true)
			noteMetadata(e, would)
			if ok, err := e.Confirm("forget this for ever?"); err != nil || !ok {
				return err
			}
		}
	}
	out, err := forgetWatched(ctx, run, f)
	if err != nil {
		if out.Finished {
			e.Note("finished an interrupted forget")
		}
		if errors.Is(err, forget.ErrNothingToForget) {
			err = nothing(run, o, f, out, err)
		}
		return forgetError(ctx, run, err)
	}
	if f.DryRun || e.Opt.Yes {
		noteMetadata(e, out)
	}
	withNames(out.Things, devices)
	return reportForgotten(run, f, out, devices)
}

// forgetWatched forgets, and shows how much was searched.
func forgetWatched(ctx context.Context, run app.Run, f forget.ForgetOptions) (forget.Forgotten, error) {
	bar := run.ProgressBytes("searched", 0)
	defer bar.End()
	f.Progress = bar.Add
	return forget.Forget(ctx, run.DB, f)
}

// nothing adds the likely reason to an error that nothing is selected.
func nothing(run app.Run, o forgetOptions, f forget.ForgetOptions, out forget.Forgotten, err error) error {
	switch {
	case len(f.Projects)+len(f.Revs) == 0:
		return app.WithHint(fmt.Errorf("project %s of this directory is not in memory: %w", run.Project.Name, err),
			"name a project with -p, or search all with --all-projects", "mem project list")
	case out.MetadataOnly > 0:
		noteMetadata(run.Env, out)
		return app.WithHint(err, "mem forget --metadata --match "+term.Shell(o.match)+" -n")
	}
	return err
}

// noteMetadata prints how many messages match only in fields that --match does not search by default.
func noteMetadata(e *app.Env, out forget.Forgotten) {
	if n := out.MetadataOnly; n > 0 {
		e.Note("%s only in fields that Claude Code writes (directory, branch, model, version, IDs), and stay: "+
			"see --metadata", matchText(n))
	}
}

func matchText(n int) string { return term.Count(n, "message") + " match" + app.If(n == 1, "es") }

// forgetError adds hints and an exit status to an error. An interrupted forget is finished first, because its target
// may have no name any more; the exit status still reports that this command did not find the name.
func forgetError(ctx context.Context, run app.Run, err error) error {
	var missing *state.NotFoundError
	if errors.As(err, &missing) && !run.Opt.DryRun {
		done, ferr := forget.FinishForgetting(ctx, run.DB)
		if ferr != nil {
			return ferr
		}
		if done {
			run.Note("finished an interrupted forget; the operands of this one are not in memory")
		}
	}
	var tool *forget.NoToolError
	switch {
	case errors.As(err, &tool) && len(tool.Tools) > 0:
		return app.WithCode(app.ExitNo, app.WithHint(err, "there is "+strings.Join(tool.Tools, ", ")))
	case errors.Is(err, forget.ErrNothingToForget):
		return app.WithCode(app.ExitNo, err)
	case errors.Is(err, forget.ErrNotForgettable):
		return app.WithHint(app.Usagef("%v", err), "mem help revisions")
	}
	return err
}

// sameAnswers returns the messages with the same text as forgotten ones.
func sameAnswers(same []forget.Remaining) []string {
	out := []string{}
	for _, r := range same {
		out = append(out, r.Revs...)
	}
	return out
}

// ForgottenAnswers returns the JSON of forgotten things.
func ForgottenAnswers(things []forget.DeletedItem) []app.Object {
	out := []app.Object{}
	for _, t := range things {
		excerpts := app.Each(t.Excerpts, func(x forget.Excerpt) app.Object {
			return app.Object{"message,omitempty", x.Message, "role", x.Role, "text", x.Text}
		})
		out = append(out, app.Object{"project", t.Project, "kind", t.Kind, "name", t.Name, "count", t.Count,
			"device,omitempty", t.Device, "waits,omitempty", t.Waits,
			"newer,omitempty", t.Newer, "newerOf,omitempty", t.NewerOf, "pins,omitempty", t.Pins, "again,omitempty", againCommand(t), "of,omitempty", t.Of,
			"bytes,omitempty", t.Bytes, "excerpts,omitempty", excerpts})
	}
	return out
}

// reportForgotten prints the receipt. The exit status is 3 if forgotten data remains in this store.
func reportForgotten(run app.Run, f forget.ForgetOptions, out forget.Forgotten, names map[string]string) (err error) {
	if run.Opt.JSON {
		others, kept := []app.Object{}, []app.Object{}
		for _, d := range app.SortedKeys(out.Proof.Others) {
			others = append(others, app.Object{"device", names[d], "places", out.Proof.Others[d]})
		}
		for _, k := range out.Proof.Kept {
			kept = append(kept, app.Object{"device", names[k.Device], "kind", k.Kind, "places", k.Places})
		}
		err = run.PrintJSON("forget", nil, "dryRun", f.DryRun, "forgotten", ForgottenAnswers(out.Things),
			"files", append([]string{}, out.Files...), "remotes", append([]string{}, out.Remotes...),
			"bytesSearched", out.Proof.Bytes, "objectsSearched", out.Proof.Objects,
			"left", append([]string{}, out.Proof.Left...), "others", others,
			"kept", kept, "same", sameAnswers(out.Proof.Same),
			"unselected", append([]refs.Project{}, out.Proof.Unselected...),
			"metadataOnly", out.MetadataOnly, "exact,omitempty", app.Each(out.Exact, func(d string) string { return names[d] }))
	} else {
		printForgotten(run.Env, out, f.Secret != nil, f.DryRun)
		if len(names) > 1 && f.Secret != nil && slices.ContainsFunc(out.Things, isNamed) {
			run.Note("only the value %s overwritten here: a device that has these messages in a file of its own, also one that \"mem resume\" wrote, "+
				"does not know it, and deletes them whole, with what is pinned in them%s; when it has synced, they are gone here, too", run.Verb("is", "would be"), pinned(out.Things...))
		}
		for _, d := range out.Exact {
			run.Note("%s has exact bytes of its own of these sessions: if the value was typed there, too, forget it there, too", names[d])
		}
		printProof(run.Env, out, f.DryRun, names)
	}
	if err == nil && len(out.Proof.Left) > 0 {
		err = app.Exit(app.ExitPartial)
	}
	return err
}

func ofMessages(t forget.DeletedItem) bool { return t.Kind == "messages" }

// pinned returns the numbers of the deleted messages with pinned texts in parentheses, "" if there are none.
func pinned(things ...forget.DeletedItem) string {
	var places []string
	for _, t := range things {
		for _, n := range t.Pins {
			places = append(places, fmt.Sprintf("#%d", n))
		}
	}
	return app.If(len(places) > 0, " ("+strings.Join(slices.Compact(places), ", ")+")")
}

// isNamed reports whether other devices are told of deleted messages.
func isNamed(t forget.DeletedItem) bool { return ofMessages(t) && !t.Redacted }

// printForgotten lists the forgotten things. Of a value only that is deleted, in messages that stay.
func printForgotten(e *app.Env, out forget.Forgotten, value, would bool) {
	if out.Finished {
		e.Note("finished an interrupted forget")
	}
	verb := cmp.Or(app.If(would, "would forget"), "forgot")
	for _, t := range out.Things {
		of := app.If(t.Project != "" && t.Project != out.Things[0].Project && t.Kind != "part of a record", "["+t.Project+"] ")
		line := forgottenLine(verb, t)
		if value && ofMessages(t) {
			line = strings.Replace(line, verb, verb+" the value in", 1)
		}
		e.Printf("%s\n", e.Safe(of+line))
		if !value && len(t.Pins) > 0 {
			e.Printf("    with what is pinned in it%s\n", pinned(t))
		}
		if would {
			printSize(e, t)
		}
	}
	if would {
		printTotal(e, out.Things)
	}
}

// printSize prints how much of a session would be deleted, and excerpts of it.
func printSize(e *app.Env, t forget.DeletedItem) {
	if t.Of == 0 {
		return
	}
	n := t.Count
	if t.Kind == "session" {
		n = t.Of
	}
	e.Printf("    %s of %s of the transcript, %s\n", tokens.Commas(n), term.Count(t.Of, "line"), app.BytesText(t.Bytes))
	for _, x := range t.Excerpts {
		place := x.Role
		if x.Message > 0 {
			place = fmt.Sprintf("#%d %s", x.Message, x.Role)
		}
		e.Printf("    %s\n", e.Safe(place+": "+x.Text))
	}
}

// printTotal prints how much would be deleted, and warns about sessions that would lose most of their messages.
func printTotal(e *app.Env, things []forget.DeletedItem) {
	sessions, messages, size := 0, 0, int64(0)
	for _, t := range things {
		if t.Of == 0 || t.Device != "" {
			continue
		}
		sessions, size = sessions+1, size+t.Bytes
		if t.Kind == "session" {
			messages += t.Of
			continue
		}
		if messages += t.Count; 2*t.Count > t.Of {
			e.Warn("%s loses %s of %s", t.Name[:max(0, strings.IndexByte(t.Name, '#'))], tokens.Commas(t.Count),
				term.Count(t.Of, "line"))
		}
	}
	if len(things) > 0 {
		e.Warn("mem undo ends at a forget: neither it nor an operation before it can be undone")
	}
	if sessions > 0 {
		e.Printf("total: %s of %s, %s\n", term.Count(messages, "line"), term.Count(sessions, "session"),
			app.BytesText(size))
	}
}

func forgottenLine(verb string, t forget.DeletedItem) string {
	line := fmt.Sprintf("%s %s %s", verb, t.Kind, t.Name)
	switch t.Kind {
	case "record":
		line = fmt.Sprintf("%s %s", verb, term.Count(t.Count, t.Name+" record"))
	case "part of a record":
		line = fmt.Sprintf("%s parts of %s", verb, term.Count(t.Count, t.Name+" record"))
	case "messages":
		of := cmp.Or(app.If(t.Copy, "also in"), "of")
		line = fmt.Sprintf("%s %s %s %s", verb, term.Count(t.Count, "message"), of, t.Name)
	case "damaged file":
		line = fmt.Sprintf("%s damaged file %s, whatever is in it", verb, t.Name)
	case "facts":
		line = fmt.Sprintf("%s %s of %s", verb, term.Count(t.Count, "fact"), t.Name)
	}
	switch {
	case t.Waits != "":
		session, _, _ := strings.Cut(t.Name, "#")
		line += fmt.Sprintf("  (%s is hidden here until %s has synced)", session, t.Waits)
	case t.Newer > 0:
		line += fmt.Sprintf("  (%s of %s %s hidden here until it has synced)", term.Count(t.Newer, "newer message"), t.NewerOf,
			cmp.Or(app.If(t.Newer == 1, "is"), "are"))
	case t.Device != "":
		line += fmt.Sprintf("  (in the data of %s, hidden here; gone when it syncs)", t.Device)
	case againCommand(t) != "":
		line += "  (again: " + againCommand(t) + ")"
	}
	return line
}

// printProof prints what was searched, and what cannot be reached.
func printProof(e *app.Env, out forget.Forgotten, dry bool, names map[string]string) {
	p := out.Proof
	if !dry && p.Bytes > 0 {
		if len(p.Left) == 0 {
			var places []string
			if len(p.Others) > 0 {
				places = append(places, "in data of other devices")
			}
			if len(p.Kept) > 0 {
				places = append(places, "in the names and directories of projects")
			}
			if len(p.Same) > 0 {
				places = append(places, "the same text in other messages")
			}
			but := app.If(len(places) > 0, " but "+strings.Join(places, ", and "))
			e.Printf("searched %s in %s of this store, unpacked: nothing is left of it%s\n", app.BytesText(p.Bytes),
				term.Count(p.Objects, "object"), but)
		} else {
			e.Warn("something is left of it: %s", strings.Join(p.Left[:min(len(p.Left), 10)], ", "))
		}
	}
	for _, d := range app.SortedKeys(p.Others) {
		e.Note(
			"the data of %s here contains it, or was made of it, at %s: the next pull after that device has synced deletes it here",
			names[d], term.Count(p.Others[d], "place"))
	}
	const most, few = 5, 3
	for _, r := range p.Same[:min(len(p.Same), most)] {
		if n := len(r.Revs); n > few {
			e.Note("%s and %s of the session have a text in common with what is forgotten, and stay; to see one: %s",
				strings.Join(r.Revs[:few], " "), term.Count(n-few, "more message"), term.Shell("mem", "show", "-p", r.Project, r.Revs[0]))
			continue
		}
		words := append([]string{"mem", "forget", "-p", r.Project}, r.Revs...)
		e.Note("%s has the same text, and stays; to forget it: %s", strings.Join(r.Revs, " "), term.Shell(words...))
	}
	if n := len(p.Same) - most; n > 0 {
		e.Note("messages of %s have it too, and stay", term.Count(n, "other session"))
	}
	printKept(e, p.Kept, names)
	if n := len(p.Unselected); n == 1 {
		e.Note("1 other project matches too, and stays: --all-projects selects it")
	} else if n > 1 {
		e.Note("%s match too, and stay: --all-projects selects them", term.Count(n, "other project"))
	}
	for _, r := range out.Remotes {
		e.Note("%s contains it until the next push: mem push %s", r, r)
	}
	for _, f := range out.Files {
		e.Note("Claude Code's own file still contains it, and will not be captured again: %s", f)
	}
	if !dry && len(out.Things) > 0 {
		e.Note(
			"out of reach: other devices until they sync, backups, files that were checked out or exported, " +
				"and what a model was sent")
	}
}

// printKept lists the remaining places of forgotten data, a line for each device.
func printKept(e *app.Env, kept []forget.Kept, names map[string]string) {
	for i := 0; i < len(kept); {
		device, n := kept[i].Device, 0
		var kinds []string
		for ; i < len(kept) && kept[i].Device == device; i++ {
			what := kept[i].Kind + " record"
			if kept[i].Kind == "commit" {
				what = "commit message"
			}
			kinds, n = append(kinds, term.Count(kept[i].Places, what)), n+kept[i].Places
		}
		verb := cmp.Or(app.If(n == 1, "keeps"), "keep")
		e.Note("%s of device %s %s it: names, directories and identities of projects stay", strings.Join(kinds, ", "),
			names[device], verb)
	}
}

// PrintHeeded prints what this device forgot because another device had forgotten it, or because it was forgotten before.
func PrintHeeded(e *app.Env, items []forget.DeletedItem) {
	for _, t := range items {
		of := app.If(t.Project != "", "["+t.Project+"] ")
		e.Printf("%s\n", e.Safe(of+forgottenLine("forgot", t)))
	}
}
