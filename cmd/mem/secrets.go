package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/cli"
	"github.com/memvcs/mem/layers"
	sources "github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/redact/scanner"
	"github.com/memvcs/mem/layers/secrets"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs/config"
)

// secrets is the command about what redaction finds.
func (e *Env) secrets() *cli.Command {
	var all bool
	var reason string
	return &cli.Command{
		Name:  "secrets",
		Usage: "scan memory for secrets and list removed ones",
		Description: "Sessions are stored without the secrets that rules find in them: a placeholder such as ‹secret:github-token:1› stands in their\n" +
			"place, and what stood there stays in originals.git, which never leaves this machine. No command here prints a secret.\n" +
			"Rules of your own: mem config set redact.rule.NAME REGEXP. What is allowed: mem config unset redact.allow.NAME.",
		Commands: []*cli.Command{
			{Name: "scan", Usage: "scan stored data with the newest rules", ArgsUsage: "[<rev>]",
				Flags: []*cli.Flag{cli.Bool(&all, "all,a", "look at every project")},
				Action: func(ctx context.Context, c *cli.Command) error {
					if err := e.wantOperands(c, 0, 1); err != nil {
						return err
					}
					return e.runSecretsScan(ctx, e.operand(0), all)
				}},
			{Name: "list", Usage: "list secrets removed from a session or the project", ArgsUsage: "[<rev>]", Action: func(ctx context.Context, c *cli.Command) error {
				if err := e.wantOperands(c, 0, 1); err != nil {
					return err
				}
				return e.runSecretsList(ctx, e.operand(0))
			}},
			{Name: "rules", Usage: "list the rules", Action: func(_ context.Context, c *cli.Command) error {
				if err := e.wantOperands(c, 0, 0); err != nil {
					return err
				}
				return e.runSecretsRules()
			}},
			{Name: "allow", Usage: "ignore the findings of a rule, or one secret", ArgsUsage: "<rule or hash>",
				Flags: []*cli.Flag{cli.String(&reason, "reason", "why, for `TEXT` in the settings")},
				Action: func(ctx context.Context, c *cli.Command) error {
					if err := e.wantOperands(c, 1, 1); err != nil {
						return err
					}
					return e.runSecretsAllow(ctx, e.operand(0), reason)
				}},
		},
	}
}

func (e *Env) runSecretsScan(ctx context.Context, name string, all bool) error {
	if name != "" && all {
		return usagef("name a revision or use --all, not both")
	}
	var leaks []secrets.Leak
	err := e.withMemory(ctx, func(m *layers.Memory, sc state.Scope) (err error) {
		leaks, err = e.scanStored(ctx, m, sc, name, all || e.opt.allProjects)
		return err
	})
	if err != nil {
		return err
	}
	if e.opt.json {
		err = e.printJSON("secrets.scan", struct {
			Rules string         `json:"rules"`
			Leaks []secrets.Leak `json:"leaks"`
		}{scanner.Version, append([]secrets.Leak{}, leaks...)})
	} else {
		t := e.table(column{name: "where", shrinks: true}, column{name: "rule"}, column{name: "bytes", right: true}, column{name: "hash"})
		for _, l := range leaks {
			t.row(cell{full: l.Where()}, cell{full: l.Rule}, cell{full: fmt.Sprint(l.Length)}, cell{full: l.Hash})
		}
		err = t.flush()
	}
	if err != nil || len(leaks) == 0 {
		return err
	}
	e.hint("mem secrets allow %s if that is none", leaks[0].Hash)
	return exit(exitNo)
}

func (e *Env) scanStored(ctx context.Context, m *layers.Memory, sc state.Scope, name string, all bool) ([]secrets.Leak, error) {
	if name != "" {
		rev, err := e.resolve(ctx, m, sc, name)
		if err != nil {
			return nil, err
		}
		return m.Secrets().ScanStored(ctx, rev.Project.ID, &rev)
	}
	projects := []state.Project{sc.Project}
	if all {
		var err error
		if projects, err = m.Trusted().Projects(ctx); err != nil {
			return nil, err
		}
	}
	var out []secrets.Leak
	for _, p := range projects {
		leaks, err := m.Secrets().ScanStored(ctx, p.ID, nil)
		if err != nil {
			return nil, err
		}
		out = append(out, leaks...)
	}
	return out, nil
}

func (e *Env) runSecretsList(ctx context.Context, name string) error {
	answer := struct {
		Secrets []secrets.Secret `json:"secrets"`
	}{[]secrets.Secret{}}
	err := e.withMemory(ctx, func(m *layers.Memory, sc state.Scope) (err error) {
		answer.Secrets, err = e.listedSecrets(ctx, m, sc, name)
		return err
	})
	if err != nil {
		return err
	}
	if e.opt.json {
		return e.printJSON("secrets.list", answer)
	}
	t := e.table(column{name: "session"}, column{name: "secret"}, column{name: "rule"}, column{name: "first", shrinks: true}, column{name: "places", right: true},
		column{name: "bytes", right: true}, column{name: "hash"})
	for _, s := range answer.Secrets {
		first := fmt.Sprintf("#%d", s.Message)
		if s.File != "" {
			first = s.File
		}
		t.row(cell{full: s.Session, short: shortID(s.Session)}, cell{full: fmt.Sprint(s.No)}, cell{full: s.Rule}, cell{full: first}, cell{full: fmt.Sprint(s.Places)},
			cell{full: fmt.Sprint(s.Length)}, cell{full: s.Hash})
	}
	return t.flush()
}

// listedSecrets returns what was removed from a session, or from all of the project, or with --all-projects of all.
func (e *Env) listedSecrets(ctx context.Context, m *layers.Memory, sc state.Scope, name string) ([]secrets.Secret, error) {
	out := []secrets.Secret{}
	if name != "" {
		rev, err := e.resolveSession(ctx, m, sc, name)
		if err != nil {
			return nil, err
		}
		found, err := m.Secrets().Secrets(ctx, rev.Project.ID, rev.Session)
		return append(out, found...), err
	}
	projects, err := e.listedProjects(ctx, m, sc)
	if err != nil {
		return nil, err
	}
	for _, p := range projects {
		st, err := m.Trusted().Outline(ctx, p.ID)
		if err != nil {
			return nil, err
		}
		for _, s := range st.Recent() {
			found, err := m.Secrets().Secrets(ctx, p.ID, s)
			if errors.Is(err, sources.ErrWithheld) {
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

func (e *Env) runSecretsRules() error {
	conf, err := e.settings()
	if err != nil {
		return err
	}
	rules, _, err := e.redactRules(conf)
	if err != nil {
		return err
	}
	answer := struct {
		ID    string   `json:"id"`
		Rules []string `json:"rules"`
		Own   []string `json:"own"`
		Allow []string `json:"allow"`
	}{rules.ID, scanner.Names(), []string{}, []string{}}
	for _, s := range conf.List() {
		if name, ok := strings.CutPrefix(s.Key, ruleKey); ok {
			answer.Own = append(answer.Own, name)
		}
		if name, ok := strings.CutPrefix(s.Key, allowKey); ok {
			answer.Allow = append(answer.Allow, name)
		}
	}
	if e.opt.json {
		return e.printJSON("secrets.rules", answer)
	}
	for _, name := range slices.Concat(answer.Rules, answer.Own) {
		mark := ""
		if slices.Contains(answer.Allow, name) {
			mark = "  (allowed)"
		}
		e.printf("%s%s\n", e.safe(name), mark)
	}
	return nil
}

func (e *Env) runSecretsAllow(ctx context.Context, what, reason string) error {
	conf, err := e.settings()
	if err != nil {
		return err
	}
	names := scanner.Names()
	for _, s := range conf.List() {
		if name, ok := strings.CutPrefix(s.Key, ruleKey); ok {
			names = append(names, name)
		}
	}
	if !slices.Contains(names, what) && !fingerprint(what) {
		err := usagef("%q is neither a rule nor the hash of a secret", what)
		if near := suggest(what, names); len(near) > 0 {
			return withHint(err, didYouMean("mem secrets allow ", near))
		}
		return withHint(err, "mem secrets rules, mem secrets list")
	}
	return e.changeSetting(ctx, "secrets.allow", allowKey+what, func(c *config.Config) error { return c.Set(allowKey+what, reason) })
}

// fingerprint reports whether s is what mem tells secrets by.
func fingerprint(s string) bool { return len(s) == 12 && strings.Trim(s, "0123456789abcdef") == "" }
