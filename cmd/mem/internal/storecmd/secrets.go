package storecmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/layers/secrets"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs/config"
)

// Secrets returns mem secrets.
func Secrets(e *app.Env) *cli.Command {
	var all bool
	var reason string
	return &cli.Command{
		Name:  "secrets",
		Usage: "scan memory for secrets and list removed ones",
		Description: "Sessions are stored without detected secrets: each is replaced by a placeholder such as\n" +
			"‹secret:github-token:1›. The secret stays in originals.git, which never leaves this\n" +
			"machine. No subcommand prints a secret. Add a rule of your own with\n" +
			"\"mem config set redact.rule.NAME REGEXP\", remove an exception with\n" +
			"\"mem config unset redact.allow.NAME\".",
		Subcommands: []*cli.Command{
			{Name: "scan", Usage: "scan stored data with the newest rules", ArgsUsage: "[<rev>]",
				Flags:  []cli.Flag{app.BoolFlag(&all, "all,a", "look at every project")},
				Action: app.Action(e, 0, 1, func(ctx context.Context, run app.Run) error { return runSecretsScan(ctx, run, all) })},
			{Name: "list", Usage: "list secrets removed from a session or the project", ArgsUsage: "[<rev>]",
				Action: app.Action(e, 0, 1, runSecretsList)},
			{Name: "rules", Usage: "list the rules", Action: e.Action(0, 0, func(c *cli.Context) error {
				return runSecretsRules(e)
			})},
			{Name: "allow", Usage: "ignore the findings of a rule, or one secret", ArgsUsage: "<rule or hash>",
				Flags: []cli.Flag{app.StringFlag(&reason, "reason", "the reason `TEXT`, stored in the settings")},
				Action: e.Action(1, 1, func(c *cli.Context) error {
					return runSecretsAllow(c.Context, e, e.Operand(0), reason)
				})},
		},
	}
}

func runSecretsScan(ctx context.Context, run app.Run, all bool) error {
	e, name := run.Env, run.Operand(0)
	if name != "" && all {
		return app.Usagef("name a revision or use --all, not both")
	}
	run.Opt.AllProjects = run.Opt.AllProjects || all
	leaks, err := scanStored(ctx, run, name)
	if err != nil {
		return err
	}
	l := e.List("secrets.scan", "leaks", app.Column{Name: "where", Shrinks: true}, "rule",
		app.Column{Name: "bytes", Right: true}, "hash")
	l.None = "no secrets found"
	for _, x := range leaks {
		l.Add(x, x.Where(), x.Rule, x.Length, x.Hash)
	}
	err = l.Print("rules", redact.RulesVersion)
	if err != nil || len(leaks) == 0 {
		return err
	}
	e.Hint("mem secrets allow %s if that is none", leaks[0].Hash)
	return app.Exit(app.ExitNo)
}

func scanStored(ctx context.Context, run app.Run, name string) ([]secrets.Leak, error) {
	if name != "" {
		rev, err := run.Resolve(ctx, name)
		if err != nil {
			return nil, err
		}
		return secrets.ScanStored(ctx, run.DB, rev.Project.ID, &rev)
	}
	projects, err := run.ListedProjects(ctx)
	if err != nil {
		return nil, err
	}
	var out []secrets.Leak
	for _, p := range projects {
		leaks, err := secrets.ScanStored(ctx, run.DB, p.ID, nil)
		if err != nil {
			return nil, err
		}
		out = append(out, leaks...)
	}
	return out, nil
}

func runSecretsList(ctx context.Context, run app.Run) error {
	allSecrets, err := listedSecrets(ctx, run, run.Operand(0))
	if err != nil {
		return err
	}
	l := run.List("secrets.list", "secrets", "session", "secret", "rule", app.Column{Name: "first", Shrinks: true},
		app.Column{Name: "places", Right: true}, app.Column{Name: "bytes", Right: true}, "hash")
	l.None = "no secrets were removed"
	for _, s := range allSecrets {
		first := fmt.Sprintf("#%d", s.Message)
		if s.File != "" {
			first = s.File
		}
		l.Add(s, app.Cell{Full: s.Session, Short: term.ShortID(s.Session)}, s.No, s.Rule, first, s.Places, s.Length, s.Hash)
	}
	return l.Print()
}

// listedSecrets returns the secrets removed from a session, the project, or with --all-projects from all projects.
func listedSecrets(ctx context.Context, run app.Run, name string) ([]secrets.Secret, error) {
	out := []secrets.Secret{}
	if name != "" {
		rev, err := run.ResolveSession(ctx, name)
		if err != nil {
			return nil, err
		}
		found, err := secrets.Secrets(ctx, run.DB, rev.Project.ID, rev.Session)
		return append(out, found...), err
	}
	projects, err := run.ListedProjects(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range projects {
		st, err := trust.Outline(ctx, run.DB, p.ID)
		if err != nil {
			return nil, err
		}
		for _, s := range st.Recent() {
			found, err := secrets.Secrets(ctx, run.DB, p.ID, s)
			if errors.Is(err, originals.ErrWithheld) {
				continue // captured elsewhere
			}
			if err != nil {
				return nil, err
			}
			out = append(out, found...)
		}
	}
	return out, nil
}

func runSecretsRules(e *app.Env) error {
	conf, err := e.Settings()
	if err != nil {
		return err
	}
	rules, err := app.RedactRules(e, conf)
	if err != nil {
		return err
	}
	allRules := redact.RuleNames()
	own := []string{}
	allow := []string{}
	for _, s := range conf.List() {
		if name, ok := strings.CutPrefix(s.Key, app.RuleKey); ok {
			own = append(own, name)
		}
		if name, ok := strings.CutPrefix(s.Key, app.AllowKey); ok {
			allow = append(allow, name)
		}
	}
	if e.Opt.JSON {
		return e.PrintJSON("secrets.rules", nil, "id", rules.ID, "rules", allRules, "own", own, "allow", allow)
	}
	for _, name := range slices.Concat(allRules, own) {
		mark := app.If(slices.Contains(allow, name), "  (allowed)")
		e.Printf("%s%s\n", e.Safe(name), mark)
	}
	return nil
}

func runSecretsAllow(ctx context.Context, e *app.Env, what, reason string) error {
	conf, err := e.Settings()
	if err != nil {
		return err
	}
	names := redact.RuleNames()
	for _, s := range conf.List() {
		if name, ok := strings.CutPrefix(s.Key, app.RuleKey); ok {
			names = append(names, name)
		}
	}
	if !slices.Contains(names, what) && !fingerprint(what) {
		err := app.Usagef("%q is neither a rule nor the hash of a secret", what)
		if near := term.Suggest(what, names); len(near) > 0 {
			return app.WithHint(err, app.DidYouMean("mem secrets allow ", near))
		}
		return app.WithHint(err, "mem secrets rules, mem secrets list")
	}
	return changeSetting(ctx, e, "secrets.allow", app.AllowKey+what, func(c *config.Config) error {
		return c.Set(app.AllowKey+what, reason)
	})
}

// fingerprint reports whether s is the fingerprint of a secret.
func fingerprint(s string) bool { return len(s) == 12 && strings.Trim(s, "0123456789abcdef") == "" }
