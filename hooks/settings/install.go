package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrShape reports settings with a value of the wrong type where the hooks belong.
var ErrShape = errors.New("not settings of Claude Code")

// timeout returns after how many seconds Claude Code kills a hook. A hook ends itself much earlier.
func timeout(e Event) int {
	if e == SessionStart {
		return 10
	}
	return 5
}

// ErrProgram reports a program whose name would not identify its hooks in settings: they could not be removed again.
var ErrProgram = errors.New("the program must be named mem: uninstall finds its hooks by that name")

// Install returns the settings b with hooks that run p at every event. It replaces other hooks of mem, and nothing else
// changes, not even a space. The name of p must be mem, perhaps with a suffix such as mem-1.2 ([ErrProgram]).
func Install(b []byte, p Program) ([]byte, error) {
	if !isMem(p.Path) {
		return nil, fmt.Errorf("%s: %w", p.Path, ErrProgram)
	}
	clean, err := Uninstall(b)
	if err != nil {
		return nil, err
	}
	if found, err := Installed(b); err != nil || Complete(found, p) {
		return b, err
	}
	for _, e := range Events() {
		if clean, err = InstallOne(clean, p, e); err != nil {
			return nil, err
		}
	}
	return clean, nil
}

// Complete reports whether each event has exactly the hook that it should have.
func Complete(found []Found, p Program) bool {
	if len(found) != len(Events()) {
		return false
	}
	for _, e := range Events() {
		if !slices.Contains(found, Found{e, p, e, true}) {
			return false
		}
	}
	return true
}

// InstallOne returns the settings b with a hook that runs p at e.
func InstallOne(b []byte, p Program, e Event) ([]byte, error) {
	handlers := struct {
		Matcher string    `json:"matcher,omitempty"`
		Hooks   []Handler `json:"hooks"`
	}{e.Matcher(), []Handler{HandlerOf(p, e)}}
	group, err := Indented(handlers)
	if err != nil {
		return nil, err
	}
	s := styleOf(b)
	root, err := ParseText(b)
	switch {
	case err != nil:
		return nil, err
	case root == nil:
		nl := ""
		if len(b) > 0 && b[len(b)-1] != '\n' {
			nl = s.newline
		}
		return InstallOne(append(slices.Clone(b), nl+"{}"+s.newline...), p, e)
	case root.Kind != '{':
		return nil, fmt.Errorf("%w: no object", ErrShape)
	}
	hooks := root.Member("hooks")
	if hooks == nil {
		return apply(b, s.add(b, root, "\"hooks\": {\n  \""+string(e)+"\": [\n"+deeper(group, 4)+"\n  ]\n}")), nil
	}
	if hooks.Value.Kind != '{' {
		return nil, fmt.Errorf("%w: \"hooks\" is not an object", ErrShape)
	}
	at := hooks.Value.Member(string(e))
	if at == nil {
		return apply(b, s.add(b, hooks.Value, "\""+string(e)+"\": [\n"+deeper(group, 2)+"\n]")), nil
	}
	if at.Value.Kind != '[' {
		return nil, fmt.Errorf("%w: \"hooks.%s\" is not an array", ErrShape, e)
	}
	return apply(b, s.add(b, at.Value, group)), nil
}

// Indented returns v as JSON, indented by two spaces.
func Indented(v any) (string, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(v)
	return strings.TrimSuffix(b.String(), "\n"), err
}

// deeper indents the lines of a text.
func deeper(text string, by int) string {
	lead := strings.Repeat(" ", by)
	return lead + strings.ReplaceAll(text, "\n", "\n"+lead)
}

// A Found is a hook of mem in settings.
type Found struct {
	Event   Event // that runs it
	Program Program
	Answers Event // in its arguments
	Current bool  // Install would write the same hook
}

// Installed returns the hooks of mem in the settings b, in their order.
func Installed(b []byte) ([]Found, error) {
	var out []Found
	_, err := eachGroup(b, func(e string, list *node) []splice {
		for _, h := range list.items {
			if found, ok := memHook(h.Value); ok {
				found.Event = Event(e)
				out = append(out, found)
			}
		}
		return nil
	})
	return out, err
}

// Disabled reports whether the settings b disable all hooks.
func Disabled(b []byte) bool {
	root, err := ParseText(b)
	if err != nil || root == nil || root.Kind != '{' {
		return false
	}
	m := root.Member("disableAllHooks")
	return m != nil && string(b[m.Value.start:m.Value.end]) == "true"
}

// eachGroup calls f for every list of handlers in the settings b and returns the changes that the calls return.
func eachGroup(b []byte, f func(event string, list *node) []splice) ([]splice, error) {
	hooks, err := objectAt(b, "hooks")
	if err != nil || hooks == nil {
		return nil, err
	}
	var out []splice
	for _, event := range hooks.items {
		for _, g := range event.Value.items {
			if list := g.Value.Member("hooks"); list != nil && list.Value.Kind == '[' {
				out = append(out, f(event.key, list.Value)...)
			}
		}
	}
	return out, nil
}

// Uninstall returns the settings b without mem's hooks and without the groups and events that this empties.
func Uninstall(b []byte) ([]byte, error) {
	changes, err := eachGroup(b, func(_ string, list *node) []splice {
		return list.remove(b, func(i int) bool { _, ok := memHook(list.items[i].Value); return ok })
	})
	if err != nil || len(changes) == 0 {
		return b, err
	}
	out := apply(b, changes)
	for _, prune := range []func([]byte) ([]splice, error){emptyGroups, emptyEvents, emptyHooks} {
		changes, err := prune(out)
		if err != nil {
			return nil, err
		}
		out = apply(out, changes)
	}
	return out, nil
}

// emptyGroups returns the changes that remove groups without handlers and other members.
func emptyGroups(b []byte) ([]splice, error) {
	return eachEvent(b, func(event *item) []splice {
		return event.Value.remove(b, func(i int) bool {
			g := event.Value.items[i].Value
			list := g.Member("hooks")
			return g.Kind == '{' && !commented(b, g) && list != nil && list.Value.Kind == '[' && len(list.Value.items) == 0 &&
				(len(g.items) == 1 || len(g.items) == 2 && g.Member("matcher") != nil)
		})
	})
}

func eachEvent(b []byte, f func(*item) []splice) ([]splice, error) {
	hooks, err := objectAt(b, "hooks")
	if err != nil || hooks == nil {
		return nil, err
	}
	var out []splice
	for i := range hooks.items {
		if it := &hooks.items[i]; it.Value.Kind == '[' {
			out = append(out, f(it)...)
		}
	}
	return out, nil
}

// objectAt returns the object under a key of the settings b, nil if there is none.
func objectAt(b []byte, key string) (*node, error) {
	root, err := ParseText(b)
	if err != nil || root == nil || root.Kind != '{' {
		return nil, err
	}
	if m := root.Member(key); m != nil && m.Value.Kind == '{' {
		return m.Value, nil
	}
	return nil, nil
}

// commented reports whether a value may contain a comment.
func commented(b []byte, n *node) bool {
	return bytes.Contains(b[n.start:n.end], []byte("//")) || bytes.Contains(b[n.start:n.end], []byte("/*"))
}

func emptyEvents(b []byte) ([]splice, error) {
	hooks, err := objectAt(b, "hooks")
	if err != nil || hooks == nil {
		return nil, err
	}
	return hooks.remove(b, func(i int) bool {
		_, known := ParseEvent(hooks.items[i].key)
		v := hooks.items[i].Value
		return known && !commented(b, v) && v.Kind == '[' && len(v.items) == 0 && hooks.once(hooks.items[i].key)
	}), nil
}

func emptyHooks(b []byte) ([]splice, error) {
	root, err := ParseText(b)
	if err != nil || root == nil || root.Kind != '{' {
		return nil, err
	}
	return root.remove(b, func(i int) bool {
		v := root.items[i].Value
		return root.items[i].key == "hooks" && !commented(b, v) && v.Kind == '{' && len(v.items) == 0 && root.once("hooks")
	}), nil
}
