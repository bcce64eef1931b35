package hooks

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ErrShape says that settings hold something where the hooks should be that Claude Code would not take either.
var ErrShape = errors.New("not settings of Claude Code")

// timeouts are how many seconds Claude Code waits for a hook before it kills it. A hook ends itself long before.
func timeout(e Event) int {
	if e == SessionStart {
		return 10
	}
	return 5
}

// A handler is one hook in the settings of Claude Code.
type handler struct {
	Type    string   `json:"type"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
	Timeout int      `json:"timeout,omitempty"`
}

func handlerOf(command string, e Event) handler {
	return handler{"command", command, []string{"hook", e.Arg()}, timeout(e)}
}

// ours returns the event that the handler in a text is mem's hook for.
func ours(b []byte, n *node) (h handler, e Event, ok bool) {
	if n.kind != '{' || json.Unmarshal(n.plain(b), &h) != nil || len(h.Args) != 2 || h.Args[0] != "hook" {
		return h, "", false
	}
	e, ok = ParseEvent(h.Args[1])
	return h, e, ok && isMem(h.Command)
}

// isMem reports whether a program is called mem, as downloads and copies are, too: mem-1.2, mem_linux_amd64, mem.exe, mem2.
func isMem(command string) bool {
	rest, ok := strings.CutPrefix(filepath.Base(strings.ReplaceAll(command, `\`, "/")), "mem")
	r, _ := utf8.DecodeRuneInString(rest)
	return ok && (rest == "" || !unicode.IsLetter(r))
}

// ErrProgram says that a program is called so that its hooks would not be recognised in settings: they could not be taken out again.
var ErrProgram = errors.New("hooks are recognised by the name of their program, which begins with mem")

// Install returns the settings in b with mem's hooks in them: command is run in exec form at every event. Nothing else
// changes, not even a space. Hooks of mem that are there already are brought up to date. A command that is not called mem is an error
// ([ErrProgram]).
func Install(b []byte, command string) ([]byte, error) {
	if !isMem(command) {
		return nil, fmt.Errorf("%s: %w", command, ErrProgram)
	}
	clean, err := Uninstall(b)
	if err != nil {
		return nil, err
	}
	if found, err := Installed(b); err != nil || complete(found, command) {
		return b, err
	}
	for _, e := range Events() {
		if clean, err = installOne(clean, command, e); err != nil {
			return nil, err
		}
	}
	return clean, nil
}

// complete reports whether each event has exactly the hook that it should have.
func complete(found []Found, command string) bool {
	if len(found) != len(Events()) {
		return false
	}
	for _, e := range Events() {
		if !slices.Contains(found, Found{e, command, e, timeout(e)}) {
			return false
		}
	}
	return true
}

func installOne(b []byte, command string, e Event) ([]byte, error) {
	text, err := json.MarshalIndent(map[string]any{"hooks": []handler{handlerOf(command, e)}}, "", "  ")
	if err != nil {
		return nil, err
	}
	group := string(text)
	s := styleOf(b)
	root, err := parseText(b)
	switch {
	case err != nil:
		return nil, err
	case root == nil:
		nl := ""
		if len(b) > 0 && b[len(b)-1] != '\n' {
			nl = s.newline
		}
		return installOne(append(slices.Clone(b), nl+"{}"+s.newline...), command, e)
	case root.kind != '{':
		return nil, fmt.Errorf("%w: no object", ErrShape)
	}
	hooks := root.member("hooks")
	if hooks == nil {
		return apply(b, s.add(b, root, "\"hooks\": {\n  \""+string(e)+"\": [\n"+deeper(group, 4)+"\n  ]\n}")), nil
	}
	if hooks.value.kind != '{' {
		return nil, fmt.Errorf("%w: \"hooks\" is no object", ErrShape)
	}
	at := hooks.value.member(string(e))
	if at == nil {
		return apply(b, s.add(b, hooks.value, "\""+string(e)+"\": [\n"+deeper(group, 2)+"\n]")), nil
	}
	if at.value.kind != '[' {
		return nil, fmt.Errorf("%w: \"hooks.%s\" is no array", ErrShape, e)
	}
	return apply(b, s.add(b, at.value, group)), nil
}

// deeper indents the lines of a text.
func deeper(text string, by int) string {
	lead := strings.Repeat(" ", by)
	return lead + strings.ReplaceAll(text, "\n", "\n"+lead)
}

// A Found is a hook of mem in settings.
type Found struct {
	Event   Event // at which it runs
	Command string
	Answers Event // what it is told to answer
	Timeout int
}

// Installed returns the hooks of mem in the settings b, in their order.
func Installed(b []byte) ([]Found, error) {
	var out []Found
	_, err := eachGroup(b, func(e string, group *node, list *node) []splice {
		for _, h := range list.items {
			if found, answers, ok := ours(b, h.value); ok {
				out = append(out, Found{Event(e), found.Command, answers, found.Timeout})
			}
		}
		return nil
	})
	return out, err
}

// Disabled reports whether the settings b switch all hooks off.
func Disabled(b []byte) bool {
	root, err := parseText(b)
	if err != nil || root == nil || root.kind != '{' {
		return false
	}
	m := root.member("disableAllHooks")
	return m != nil && string(b[m.value.start:m.value.end]) == "true"
}

// eachGroup calls f for every list of handlers in the settings b and returns all the changes that it wants.
func eachGroup(b []byte, f func(event string, group, list *node) []splice) ([]splice, error) {
	root, err := parseText(b)
	if err != nil || root == nil || root.kind != '{' {
		return nil, err
	}
	var out []splice
	hooks := root.member("hooks")
	if hooks == nil || hooks.value.kind != '{' {
		return nil, nil
	}
	for _, event := range hooks.value.items {
		for _, g := range event.value.items {
			if list := g.value.member("hooks"); list != nil && list.value.kind == '[' {
				out = append(out, f(event.key, g.value, list.value)...)
			}
		}
	}
	return out, nil
}

// Uninstall returns the settings b without mem's hooks, and without what held nothing else.
func Uninstall(b []byte) ([]byte, error) {
	changes, err := eachGroup(b, func(_ string, _, list *node) []splice {
		return list.remove(b, func(i int) bool { _, _, ok := ours(b, list.items[i].value); return ok })
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

// emptyGroups finds the groups that hold no handler any more and say nothing else.
func emptyGroups(b []byte) ([]splice, error) {
	return eachEvent(b, func(event *item) []splice {
		return event.value.remove(b, func(i int) bool {
			g := event.value.items[i].value
			list := g.member("hooks")
			return g.kind == '{' && !commented(b, g) && list != nil && list.value.kind == '[' && len(list.value.items) == 0 &&
				(len(g.items) == 1 || len(g.items) == 2 && g.member("matcher") != nil)
		})
	})
}

func eachEvent(b []byte, f func(*item) []splice) ([]splice, error) {
	hooks, err := hooksOf(b)
	if err != nil || hooks == nil {
		return nil, err
	}
	var out []splice
	for i := range hooks.items {
		if it := &hooks.items[i]; it.value.kind == '[' {
			out = append(out, f(it)...)
		}
	}
	return out, nil
}

// hooksOf returns the object under "hooks", nil if there is none.
func hooksOf(b []byte) (*node, error) {
	root, err := parseText(b)
	if err != nil || root == nil || root.kind != '{' {
		return nil, err
	}
	if m := root.member("hooks"); m != nil && m.value.kind == '{' {
		return m.value, nil
	}
	return nil, nil
}

// commented reports whether there may be a comment in a value that is about to go.
func commented(b []byte, n *node) bool {
	return bytes.Contains(b[n.start:n.end], []byte("//")) || bytes.Contains(b[n.start:n.end], []byte("/*"))
}

func emptyEvents(b []byte) ([]splice, error) {
	hooks, err := hooksOf(b)
	if err != nil || hooks == nil {
		return nil, err
	}
	return hooks.remove(b, func(i int) bool {
		_, known := ParseEvent(hooks.items[i].key)
		v := hooks.items[i].value
		return known && !commented(b, v) && v.kind == '[' && len(v.items) == 0 && hooks.once(hooks.items[i].key)
	}), nil
}

func emptyHooks(b []byte) ([]splice, error) {
	root, err := parseText(b)
	if err != nil || root == nil || root.kind != '{' {
		return nil, err
	}
	return root.remove(b, func(i int) bool {
		v := root.items[i].value
		return root.items[i].key == "hooks" && !commented(b, v) && v.kind == '{' && len(v.items) == 0 && root.once("hooks")
	}), nil
}
