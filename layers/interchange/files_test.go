package interchange

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestFiles(t *testing.T) {
	t.Parallel()
	p := shop(t)
	var f struct {
		Keywords  map[string][]string
		Permanent struct {
			Rules     []map[string]any
			Solutions []map[string]any
			Core      []map[string]any `json:"core_logic"`
		}
		Decisions, Patterns, Issues []map[string]any
		Stats                       map[string]any
	}
	if err := json.Unmarshal(body(t, Facts(p)), &f); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(len(f.Permanent.Rules), len(f.Permanent.Solutions), len(f.Permanent.Core), len(f.Decisions), len(f.Patterns), len(f.Issues)); got != "1 1 1 1 1 3" {
		t.Errorf("sizes %s", got)
	}
	s := f.Permanent.Solutions[0]
	if s["problem"] != "The test times out" || s["solution"] != "Close the database" || s["confidence"] != 0.95 || s["attempts"] != 1.0 {
		t.Errorf("solution %v", s)
	}
	if r := f.Permanent.Rules[0]; r["content"] != "Sign commits" || r["source"] != "user" || r["confidence"] != 1.0 || r["last_validated"] != "2026-01-10" {
		t.Errorf("rule %v", r)
	}
	if got := f.Keywords["coupon"]; len(got) != 3 || got[0] != "c001" || !strings.HasPrefix(got[1], "e:") {
		t.Errorf("keywords %v", f.Keywords)
	}
	if f.Issues[0]["status"] != "resolved" || f.Stats["total_exchanges"] != 2.0 || f.Stats["last_updated"] != "2026-01-11" {
		t.Errorf("%v %v", f.Issues[0], f.Stats)
	}
	var c struct {
		Concepts []struct{ Summary, Updated string }
		NextID   int
	}
	if err := json.Unmarshal(body(t, Concepts(p)), &c); err != nil {
		t.Fatal(err)
	}
	if len(c.Concepts) != 1 || c.NextID != 2 || c.Concepts[0].Summary != "Coupon codes work" || c.Concepts[0].Updated != "2026-01-10" {
		t.Errorf("concepts %+v", c)
	}
	if a, b := string(body(t, Facts(p))), string(body(t, Facts(shop(t)))); a != b {
		t.Errorf("twice:\n%s\n%s", a, b)
	}
}
