package checkout

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestRelocation holds that paths change only in what the client and the tools fill, and only as whole directories.
func TestRelocation(t *testing.T) {
	t.Parallel()
	r := relocationOf("/w/shop/api", "/new/shop", "/c/projects/-w-shop-api", "/d/projects/-new-shop")
	for in, want := range map[string]string{
		`{"cwd":"/w/shop/api"}`:                 `{"cwd":"/new/shop/api"}`,
		`{"cwd" : "/w/shop" , "x":[1,{"y":2}]}`: `{"cwd" : "/new/shop" , "x":[1,{"y":2}]}`,
		`{"cwd":"/w/shop-api"}`:                 `{"cwd":"/w/shop-api"}`,
		`{"cwd":"/w/shop.git"}`:                 `{"cwd":"/w/shop.git"}`,
		`{"cwd":"/x/w/shop"}`:                   `{"cwd":"/x/w/shop"}`,
		`{"cwd":"/w/shop한"}`:                    `{"cwd":"/w/shop한"}`,
		`{"x":{"cwd":"/w/shop"}}`:               `{"x":{"cwd":"/w/shop"}}`,
		`{"toolUseResult":{"a":["in /w/shop.",{"b":"/w/shop/x"}]},"text":"/w/shop"}`:                                                            `{"toolUseResult":{"a":["in /new/shop.",{"b":"/new/shop/x"}]},"text":"/w/shop"}`,
		`{"toolUseResult":{"persistedOutputPath":"/c/projects/-w-shop-api/id/tool-results/x"}}`:                                                 `{"toolUseResult":{"persistedOutputPath":"/d/projects/-new-shop/id/tool-results/x"}}`,
		`{"message":{"content":"/w/shop"}}`:                                                                                                     `{"message":{"content":"/w/shop"}}`,
		`{"message":{"content":[{"type":"text","text":"/w/shop"},{"type":"tool_use","input":{"command":"cd /w/shop && ls \"/w/shop/a b\""}}]}}`: `{"message":{"content":[{"type":"text","text":"/w/shop"},{"type":"tool_use","input":{"command":"cd /new/shop && ls \"/new/shop/a b\""}}]}}`,
		`{"message":{"content":[{"type":"thinking","thinking":"/w/shop","signature":"/w/shop"}]}}`:                                              `{"message":{"content":[{"type":"thinking","thinking":"/w/shop","signature":"/w/shop"}]}}`,
		`{"message":{"content":[{"type":"tool_result","content":[{"type":"text","text":"/w/shop/x:/w/shop/y"}]}]}}`:                             `{"message":{"content":[{"type":"tool_result","content":[{"type":"text","text":"/new/shop/x:/new/shop/y"}]}]}}`,
		`{"cwd":"/w/shop"`:                     `{"cwd":"/new/shop"`,
		`not json /w/shop`:                     `not json /w/shop`,
		`{"cwd":"/w/shop"}{"cwd":"/w/shop/b"}`: `{"cwd":"/new/shop"}{"cwd":"/new/shop/b"}`,
	} {
		var out strings.Builder
		if _, err := r.apply(&out, strings.NewReader(in)); err != nil || out.String() != want+"\n" {
			t.Errorf("%s\n got %s\nwant %s (%v)", in, out.String(), want, err)
		}
	}
	windows := relocationOf(`C:\src\shop`, "/home/me/shop", "", "")
	if got := string(windows.line([]byte(`{"cwd":"C:\\src\\shop"}`))); got != `{"cwd":"/home/me/shop"}` {
		t.Errorf("from Windows: %s", got)
	}
	if r := relocationOf("/w/shop", "/w/shop", "/c/p", "/c/p"); r != nil {
		t.Errorf("nothing moved: %v", r)
	}
	if r := relocationOf("/w/shop-feature", "/w/shop", "", ""); len(r) != 1 || r[0] != [2]string{"/w/shop-feature", "/w/shop"} {
		t.Errorf("a worktree: %v", r)
	}
	if r := relocationOf("/w/old/api", "/w/new", "", ""); len(r) != 1 || r[0][0] != "/w/old/api" {
		t.Errorf("renamed: %v", r)
	}
}

func FuzzRelocation(f *testing.F) {
	f.Add(`{"cwd":"/w/shop/api","toolUseResult":["/w/shop"],"message":{"content":[{"input":{"a":"/w/shop"}}]}}`)
	f.Add(`{"a":{"cwd":"/w/shop"}} [1,"/w/shop"]`)
	r := relocationOf("/w/shop", "/n/shop", "", "")
	f.Fuzz(func(t *testing.T, s string) {
		out := r.line([]byte(s))
		if json.Valid([]byte(s)) && !json.Valid(out) {
			t.Errorf("%q became %q, which is not JSON", s, out)
		}
		if back := relocationOf("/n/shop", "/w/shop", "", ""); !strings.Contains(s, "/n/shop") && string(back.line(out)) != s {
			t.Errorf("%q became %q, and back %q", s, out, back.line(out))
		}
	})
}
