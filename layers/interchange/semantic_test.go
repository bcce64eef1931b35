package interchange

import (
	"fmt"
	"testing"
)

// TestSemantic: each fact that stands and each rule that holds is a memory, with the messages that say it.
func TestSemantic(t *testing.T) {
	p := shop(t)
	cited := CitedMessages(p)
	file := Semantic(p, func(c MessageRef) string {
		if !cited[c] {
			t.Errorf("%+v is not among the citations", c)
		}
		return fmt.Sprintf("%s-%d", c.Session, c.Message)
	})
	types := map[string]int{}
	for _, m := range file.Memories {
		types[m.Type]++
		for _, s := range m.Sources {
			if s.Message != s.Session+"-3" || s.Excerpt == "" {
				t.Errorf("%s: source %+v", m.ID, s)
			}
		}
		if m.Validated != (m.Content == "Sign commits") {
			t.Errorf("%s: validated is %t", m.Content, m.Validated)
		}
	}
	if types[Pattern] != 3 || types[Decision] != 1 || types[Preference] != 1 || types[Plain] != 3 { // not the resolved issue
		t.Errorf("memories by type: %v", types)
	}
}
