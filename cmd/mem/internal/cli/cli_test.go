package cli

import (
	"errors"
	"slices"
	"testing"
)

func TestFlags(t *testing.T) {
	t.Parallel()
	var (
		on    = true
		text  = "before"
		n     = 7
		word  string
		list  []string
		upper string
	)
	flags := []*Flag{
		Bool(&on, "on,o", ""), String(&text, "text", "use `TEXT` here"), Int(&n, "n", ""), Choice(&word, "word", "", "a", "b"),
		Repeated(&list, "list,l,L", ""),
		Parsed(&upper, "upper", "half a `NAME", func(s string) (string, error) { return s + "!", nil }).Optional("x"),
	}
	for _, tt := range []struct{ name, text string }{
		{"on", "maybe"}, {"n", "1.5"}, {"n", ""}, {"n", "99999999999999999999"}, {"word", "c"}, {"word", ""},
	} {
		f := Find(flags, tt.name)
		if f.Check(tt.text) == nil || f.Set(tt.text) == nil || f.IsSet() {
			t.Errorf("%s took %q", tt.name, tt.text)
		}
	}
	if !on || text != "before" || n != 7 {
		t.Errorf("what was refused was kept: %v %q %d", on, text, n)
	}
	for _, tt := range []struct{ name, text string }{
		{"o", "false"}, {"text", ""}, {"n", "-0x10"}, {"word", "b"}, {"L", " a,b "}, {"list", "c"}, {"upper", "y"},
	} {
		f := Find(flags, tt.name)
		if err := errors.Join(f.Check(tt.text), f.Set(tt.text)); err != nil || !f.IsSet() {
			t.Errorf("%s %q: %v", tt.name, tt.text, err)
		}
	}
	if on || text != "" || n != -16 || word != "b" || !slices.Equal(list, []string{"a,b", "c"}) || upper != "y!" {
		t.Errorf("%v %q %d %q %q %q", on, text, n, word, list, upper)
	}
	for name, needs := range map[string]bool{"on": false, "text": true, "upper": false} {
		if Find(flags, name).NeedsValue() != needs {
			t.Errorf("%s needs a value: %v", name, !needs)
		}
	}
	for name, want := range map[string][2]string{"text": {"TEXT", "use TEXT here"}, "upper": {"", "half a `NAME"}, "n": {}} {
		if value, usage := Find(flags, name).Explained(); value != want[0] || usage != want[1] {
			t.Errorf("%s: %q, %q", name, value, usage)
		}
	}
	c := Command{Name: "log", Aliases: []string{"l"}, Flags: flags}
	if !c.HasName("l") || c.HasName("o") || !c.IsSet("l") || c.IsSet("none") || Find(flags, "none") != nil {
		t.Error("a name was not found, or one that is not there was")
	}
}
