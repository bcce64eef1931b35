package redact

import (
	"slices"
	"testing"

	"github.com/memvcs/mem/layers/redact/scanner"
)

// TestKubernetes finds what a Secret holds, however it is written, and nothing of other kinds.
func TestKubernetes(t *testing.T) {
	t.Parallel()
	const a, b = "c2hvcC1kYi1xN3o5UDJ3eA==", "Tm9ib2R5LWtub3dzLTg4"
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"yaml", "apiVersion: v1\nkind: Secret\nmetadata:\n  name: shop\ndata:\n  one: " + a + "\n  two: \"" + b + "\"\ntype: Opaque\n", []string{a, b}},
		{"kubectl puts data first", "apiVersion: v1\ndata:\n  one: " + a + "\nkind: Secret\n", []string{a}},
		{"plain text", "kind: Secret\nstringData:\n  conf: q7z5P2wx-99\n", []string{"q7z5P2wx-99"}},
		{"a block", "kind: Secret\ndata:\n  one: |\n    " + a + "\n    " + b + "\nmetadata:\n  name: " + "shop-blue\n", []string{a, b}},
		{"in a list", "items:\n- apiVersion: v1\n  data:\n    one: " + a + "\n  kind: Secret\n- apiVersion: v1\n  data:\n    one: " + b + "\n  kind: ConfigMap\n", []string{a}},
		{"of a listing", "     1→kind: Secret\n     2→data:\n     3→  one: " + a + "\n     4→type: Opaque\n", []string{a}},
		{"json", `{"kind":"Secret","data":{"one":"` + a + `","two":"` + b + `"}}`, []string{a, b}},
		{"json with spaces", "{\n \"data\": {\n  \"one\": \"" + a + "\"\n },\n \"kind\": \"Secret\"\n}", []string{a}},
		{"json in json", `{\"kind\":\"Secret\",\"data\":{\"one\":\"` + a + `\"}}`, []string{a}},
		{"escaped", `kind: Secret\ndata:\n  one: ` + a + `\n  two: ` + b + `\ntype: Opaque`, []string{a, b}},
		{"another kind", "kind: SecretStore\ndata:\n  one: " + a + "\n", nil},
		{"another document", "kind: Secret\n---\nkind: ConfigMap\ndata:\n  one: " + a + "\n", nil},
		{"words", "kind: Secret\ndata:\n  user: YWRtaW4=\n  pass: Y2hhbmdlbWU=\n  ref: {{ .Values.x }}\n  file: /etc/shop/key\n", nil},
		{"an end", "kind: Secret\ndata:", nil},
		{"half", `{"kind":"Secret","data":{"one":"` + a, nil},
	} {
		rules, err := New(scanner.Config{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range scanner.Merge(scanner.NewScan(rules.set).Run([]byte(c.text), 1)) {
			got = append(got, c.text[s.Start:s.End])
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: found %q, want %q", c.name, got, c.want)
		}
	}
}
