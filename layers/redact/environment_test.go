package redact

import (
	"strings"
	"testing"
)

// TestEnvironment searches the values of an environment file in a sentence: only one that cannot be a word, a phrase or an
// address is found there, whatever name the file gives it.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		value string
		found bool
	}{
		{"rabbitmq", false}, {"localhost:8080", false}, {"inventory", false}, {"postgres14", false}, {"my-app-2024", false}, {"us-east-1", false},
		{"Never force-push", false}, {"ask before you delete anything", false}, {"Never-force-push-to-main", false}, {"AlwaysAskBeforeYouDelete", false},
		{"kubernetes", false}, {"shop_production_db2", false}, {"10.0.0.12:5432", false}, {"info@acme.io", false}, {"v1.24.3-alpine", false},
		{"2026-01-15T10:00:00Z", false}, {"registry.acme.io/shop:latest", false}, {"development", false}, {"htpasswd", false}, {"Sommer2024!", false},
		{"correct-horse-battery-staple", false}, {"graphviz-lightweight", false}, {"GET /v1/prices", false}, {"take SQLite, not MongoDB", false},
		{"S3cr3tPw9xKq", true}, {"qwhzkdpslmvnxbaq", true}, {"k#9$Lq(x3<T!", true}, {"9d41c7e5b02f68a3d7c1e94f", true}, {"wsxdRfvTgbYhnUjm", true},
		{"kumquat-9Xq7-marmalade-4Zt2", true}, {"Release-v1.24.3-Alpine", false}, {"Frankfurt-Zone-1b", false},
	} {
		known := Environment([]byte("PORT=80\nDB_PASSWORD=\"" + c.value + "\"\nexport API_TOKEN='" + c.value + "'\n"))
		rules, err := New(Config{Known: known})
		if err != nil {
			t.Fatal(err)
		}
		var n Numbers
		text := "We use " + c.value + " here"
		clean, _ := rules.Redact([]byte(text), &n)
		if found := !strings.Contains(string(clean), c.value); found != c.found {
			t.Errorf("%q as a value of an environment file gives %q, found %v, want %v", c.value, clean, found, c.found)
		}
	}
}
