package interchange

import (
	"encoding/json"
	"fmt"
	"testing"
)

// TestSemantic: each fact that stands and each rule that holds is a memory, with the messages that say it.
func TestSemantic(t *testing.T) {
	p := shop(t)
	cited := CitedMessages(p)
	made := Semantic(p, func(c MessageRef) string {
		if !cited[c] {
			t.Errorf("%+v is not among the citations", c)
		}
		return fmt.Sprintf("%s-%d", c.Session, c.Message)
	})
	var file struct {
		Memories []struct {
			ID, Type, Content string
			ValidatedByUser   bool
			Sources           []struct{ SessionID, MessageUUID, Excerpt string }
		}
	}
	if err := json.Unmarshal(body(t, made), &file); err != nil {
		t.Fatal(err)
	}
	types := map[string]int{}
	for _, m := range file.Memories {
		types[m.Type]++
		for _, s := range m.Sources {
			if s.MessageUUID != s.SessionID+"-3" || s.Excerpt == "" {
				t.Errorf("%s: source %+v", m.ID, s)
			}
		}
		if m.ValidatedByUser != (m.Content == "Sign commits") {
			t.Errorf("%s: validated is %t", m.Content, m.ValidatedByUser)
		}
	}
	if types["pattern"] != 3 || types["decision"] != 1 || types["preference"] != 1 || types["fact"] != 3 { // not the resolved issue
		t.Errorf("memories by type: %v", types)
	}
}
