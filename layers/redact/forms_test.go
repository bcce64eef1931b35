package redact

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestForms finds each form in its place, whole, and leaves what is too short, too long, or an example.
func TestForms(t *testing.T) {
	t.Parallel()
	r := &ruleset{}
	r.Scans.New = func() any { return newScan(r) }
	random := rand.New(rand.NewPCG(1, 2))
	text := func(n int, chars string) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = chars[random.IntN(len(chars))]
		}
		return string(b)
	}
	const alnum = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	pw := "x7" + text(10, alnum)
	for _, x := range []struct{ before, secret, after string }{
		{"https://discord.com/api/webhooks/123456789012345678/", text(68, alnum), "/slack"},
		{"https://discord.com/api/webhooks/123456789012345678/", "", text(90, alnum)},
		{"client.login('", text(24, alnum) + "." + text(6, alnum) + "." + text(38, alnum), "')"},
		{"client.login('", "", text(24, alnum) + "." + text(7, alnum) + "." + text(38, alnum) + "')"},
		{"key=", text(11, alnum) + ":APA91b" + text(134, alnum), " x"},
		{"X-Amz-Signature=", text(64, "0123456789abcdef"), "&x"},
		{"X-Amz-Signature=", "", text(65, "0123456789abcdef")},
		{"https://a.blob/c?sig=", text(43, alnum) + "%3D", "&se=1"},
		{"xsig=", "", text(43, alnum)},
		{"https://api.telegram.org/bot", "123456789:AA" + text(33, alnum), "/getMe"},
		{"12", "", "3456789012:AA" + text(33, alnum)},
		{"secret=", text(3, alnum) + "8Q~" + text(34, alnum), ""},
		{"out: {\"keyName\": \"key1\", \"value\": \"", text(86, alnum) + "==", "\"}"},
		{"AWS Secret Access Key [None]: ", text(40, alnum), "\nDefault"},
		{"openssl rsa -passin pass:", pw, " -in k"},
		{"stats auth admin:", pw, ""},
		{"user = \"me:", pw, "\""},
		{"Credentials(\"r\", \"h\", \"u\" , \"", pw, "\")"},
		{"Credentials(\"r\", \"h\", u, \"", "", pw + "\")"},
		{"requests.get(u, auth=(b'me' , '", pw, "'))"},
		{"ALTER USER a IDENTIFIED WITH caching_sha2_password BY '", pw, "'"},
		{"IDENTIFIED BY PASSWORD '", pw, "'"},
		{"ConvertTo-SecureString -String \"", pw, "\" -AsPlainText"},
		{"stats auth admin:", "", "${PASSWORD}"},
	} {
		line := x.before + x.secret + x.after
		var found []string
		for _, s := range r.Find([]byte(line), false, nil) {
			found = append(found, line[s.Start:s.End])
		}
		if got := strings.Join(found, " "); got != x.secret && !(x.secret != "" && strings.Contains(" "+got+" ", " "+x.secret+" ")) {
			t.Errorf("secret in %q is %q, want %q", line, got, x.secret)
		}
	}
}
