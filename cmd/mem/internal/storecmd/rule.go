package storecmd

import (
	"regexp"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/layers/redact"
)

// checkRule returns an error for a redaction rule that would block every push, and warns of one that matches times or
// ids, which occur in every session.
func checkRule(e *app.Env, name, expr string) error {
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil // the setting says so
	}
	narrower := "match the text before the secret, and put the secret in a group: mem config set " + app.RuleKey + name +
		" 'pin:? *([0-9]{4,6})'"
	part, whole, stops := redact.Overreach(re)
	switch {
	case stops:
		return app.WithHint(app.Usagef("rule %s matches %q in mem's own output (%q): every push would fail", name, part,
			whole), narrower)
	case whole != "":
		e.Warn(
			"rule %s matches %q in times or ids too (%q): sessions lose them, "+
				"and a push may refuse texts derived from them", name, part, whole)
		e.Hint("%s", narrower)
	}
	return nil
}
