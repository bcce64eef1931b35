package redact

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestRepeated redacts strings that a session contains several times: they are scanned once, but what was learned since then and the
// name of the string still count.
func TestRepeated(t *testing.T) {
	t.Parallel()
	rules, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	const value = "Xk93hTq0Lm2vRw8s"
	long := strings.Repeat("a line that somebody has written\n", 30)
	object := func(key, text string) string {
		b, err := json.Marshal(map[string]string{key: text})
		if err != nil {
			t.Fatal(err)
		}
		return string(b) + "\n"
	}
	var n Numbers
	redacted := func(raw string) string {
		clean, cuts := rules.Redact([]byte(raw), &n)
		if undo(clean, cuts) != raw {
			t.Fatalf("the cuts do not restore %q", raw)
		}
		return string(clean)
	}
	plain := object("text", long+value)
	for range 2 {
		if got := redacted(plain); got != plain {
			t.Errorf("of a text without names, got %q", got)
		}
	}
	if got := redacted(object("text", `the password is "`+value+`"`)); strings.Contains(got, value) {
		t.Errorf("the password stands in %q", got)
	}
	for range 2 {
		if got := redacted(plain); strings.Contains(got, value) {
			t.Errorf("after it was learned, the password stands in %q", got)
		}
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	var random []byte
	for range 700 {
		random = append(random, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"[rnd.IntN(62)])
	}
	key := string(random)
	if got := redacted(object("text", key)); !strings.Contains(got, key) {
		t.Errorf("a text without a name became %q", got)
	}
	if got := redacted(object("client_secret", key)); strings.Contains(got, key) {
		t.Errorf("the secret stands in %q", got)
	}
}

// TestKeywordInValue redacts values that a rule of gitleaks knows by their beginning, if the name before them fits.
func TestKeywordInValue(t *testing.T) {
	t.Parallel()
	rules, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	const hex, letters = "0a1b2c37d4e5f60718a92b3c4d5e6f708192", "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eFxR5uL8nO2qS6wX9zA3cD7fG1hJ4kM"
	for _, text := range []string{
		`lob = "test_` + hex[:35] + `"`,
		"LOB: live_pub_" + hex[:31],
		`new_relic: "NRJS-` + hex[:19] + `"`,
		"newrelic = 'NRII-" + letters[:32] + "'",
		"typeform = tfp_" + letters[:59],
	} {
		var n Numbers
		if clean, cuts := rules.Redact([]byte(text+"\n"), &n); len(cuts) != 1 {
			t.Errorf("%s: %d cuts: %s", text, len(cuts), clean)
		}
	}
	plain := "the = test_" + hex[:35] + "\n"
	if clean, cuts := rules.Redact([]byte(plain), &Numbers{}); len(cuts) != 0 {
		t.Errorf("without the name: %s", clean)
	}
}

// TestSeen finds a secret that a rule found once wherever the session names it later, unless it may be a word.
func TestSeen(t *testing.T) {
	t.Parallel()
	rules, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		value string
		again bool
	}{
		{"hunter2-acme-9917", true},
		{"tr0ub4dor99", true},
		{"blue-horse-42-stable", true},
		{"Xk93hTq0Lm2vRw8s", true},
		{"otters9x", false},
	} {
		var n Numbers
		first, cuts := rules.Redact([]byte(`{"password":"`+c.value+`"}`+"\n"), &n)
		if len(cuts) != 1 {
			t.Fatalf("the first message became %s", first)
		}
		later, _ := rules.Redact([]byte(`{"text":"I stored `+c.value+` in .env.staging"}`+"\n"), &n)
		if got := !strings.Contains(string(later), c.value); got != c.again {
			t.Errorf("%s is removed from a later message: %v, want %v", c.value, got, c.again)
		}
	}
}
