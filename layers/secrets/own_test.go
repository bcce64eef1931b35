package secrets_test

import (
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/layers/secrets"
)

// TestRedactOwn cuts what people wrote from records and messages of commits, and none of what holds them together, whatever a rule finds.
func TestRedactOwn(t *testing.T) {
	t.Parallel()
	rules, err := redact.New(redact.Config{Custom: []redact.Custom{{Name: "digits", Regexp: "[0-9]{4}"}}})
	if err != nil {
		t.Fatal(err)
	}
	hash, device, uuid := strings.Repeat("1234567890abcdef", 4), strings.Repeat("12345678", 4), "11111111-0000-4000-8000-000000000001"
	for _, c := range [][2]string{
		{`{"original":"` + hash + `","size":123456,"at":"2026-01-15T10:00:00Z","by":"` + device + `/4711","session":"` + uuid + `","target":"session/` + uuid + `"}`, ""},
		{`{"title":"call 4711 now","size":4711}`, `{"title":"call ‹secret:digits:1› now","size":4711}`},
		{`{"title":"4711","scan":{"title":"` + uuid + `"}}`, "cut"},
		{`{"path":"/x/4711/` + hash + `"}`, "cut"},
		{"compress abc:v003\n\nMem-Output: " + hash + "\nMem-Lamport: 123456\n", ""},
		{"compose room-4711\n\nMem-Output: " + hash + "\n", "compose room-‹secret:digits:1›\n\nMem-Output: " + hash + "\n"},
		{"Mem-Session: call 4711\n", "cut"},
		{`{"key":"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKtflZ9b9Z0w8DDRuFUj12345GqDhKrhUonnlI3ZnxXV","model":"claude-opus-4-5-20251101","parts":["` + uuid + `:v1234"]}`, ""},
		{"desk\n" + device + "@mem.invalid\nremove secrets from the lane\n\nMem-Op: clean\n", ""},
		{"desk\n4711@mem.invalid\nx\n", "cut"},
		{"undo 12345678 of 11111111\n\nMem-Undoes: " + hash[:40] + "\nMem-Session: " + uuid + "\n", ""},
		{`{"source":"/x/` + uuid + `.jsonl"}`, ""},
		{"undo compress 12345678:v001\n\nMem-Op: undo\n", ""},
		{"undo 12345679\n\nMem-Undoes: " + hash[:40] + "\n", "cut"},
	} {
		clean, cuts := secrets.RedactOwn(rules, []byte(c[0]))
		switch want := c[1]; {
		case want == "" && (string(clean) != c[0] || len(cuts) > 0), want == "cut" && len(cuts) == 0, want != "" && want != "cut" && string(clean) != want:
			t.Errorf("%s became %s, want %q", c[0], clean, want)
		}
		at := 0
		var back strings.Builder
		for _, cut := range cuts {
			back.Write(clean[at:cut.At])
			back.Write(cut.Bytes)
			at = int(cut.At) + cut.Len
		}
		if back.Write(clean[at:]); back.String() != c[0] {
			t.Errorf("the cuts of %s do not give it back", c[0])
		}
	}
}
