package refine

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// A spoken is a text that must be in L1.
type spoken struct {
	line int
	role string
	text string
}

// walk reads a transcript in its own simple way and returns what user and assistant said: every text block of a user or assistant
// record, but for meta records and what the client sends in the user's name.
func walk(src []byte) []spoken {
	var all []spoken
	for n, line := range bytes.Split(src, []byte("\n")) {
		dec := json.NewDecoder(bytes.NewReader(line))
		for {
			var r struct {
				Type    string
				IsMeta  bool
				Message struct{ Content json.RawMessage }
			}
			if dec.Decode(&r) != nil {
				break
			}
			if r.Type != "user" && r.Type != "assistant" || r.IsMeta {
				continue
			}
			for _, text := range texts(r.Message.Content) {
				if text = said(text); text != "" {
					all = append(all, spoken{n + 1, r.Type, text})
				}
			}
		}
	}
	return all
}

func texts(raw json.RawMessage) []string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return []string{s}
	}
	var blocks []struct{ Type, Text string }
	if json.Unmarshal(raw, &blocks) != nil {
		return nil
	}
	var all []string
	for _, b := range blocks {
		if b.Type == "text" {
			all = append(all, b.Text)
		}
	}
	return all
}

func said(s string) string {
	for {
		before, rest, ok := strings.Cut(s, "<system-reminder>")
		_, after, closed := strings.Cut(rest, "</system-reminder>")
		if !ok || !closed {
			break
		}
		s = strings.TrimSpace(before) + strings.TrimSpace(after)
	}
	s = strings.TrimSpace(s)
	for _, mark := range []string{"<local-command", "<command-", "<bash-", "Caveat:", "<task-notification"} {
		if strings.HasPrefix(s, mark) {
			return ""
		}
	}
	return s
}

// TestNothingSaidIsMissing holds that L1 has every text of user and assistant whole.
func TestNothingSaidIsMissing(t *testing.T) {
	t.Parallel()
	files, checked := 0, 0
	transcripts(t, func(path string, b []byte) {
		files++
		want := walk(b)
		for _, mode := range []Mode{Full, Lean} {
			have := map[string]int{}
			for e, err := range Entries(bytes.NewReader(l1(t, b, mode))) {
				if err != nil {
					t.Fatal(path, err)
				}
				if e.Role != "tool" {
					have[strings.TrimSpace(e.Said)]++
				}
			}
			for _, w := range want {
				checked++
				if have[w.text] == 0 && !within(have, w.text) {
					t.Errorf("%s:%d: %s text is missing: %.200q", path, w.line, w.role, w.text)
				}
			}
		}
	})
	t.Logf("%d texts of %d files", checked, files)
	if checked == 0 {
		t.Error("nothing was checked")
	}
}

// within reports whether a text stands in another, as one of several that were typed together does.
func within(have map[string]int, text string) bool {
	for s := range have {
		if strings.Contains(s, text) {
			return true
		}
	}
	return false
}
