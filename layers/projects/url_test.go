package projects

import "testing"

// TestNormalURL holds that forms of one URL are one project, and that other URLs are others.
func TestNormalURL(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"https://me:secret@GitHub.com:443/dev/shop.git/": "github.com/dev/shop",
		"git@github.com:dev/shop.git":                    "github.com/dev/shop",
		"ssh://git@github.com/dev/shop":                  "github.com/dev/shop",
		"/srv/git/shop.git":                              "/srv/git/shop",
		"file:///srv/git/shop.git":                       "/srv/git/shop",
		"g:dev/shop.git":                                 "g/dev/shop",
		`C:\src\shop`:                                    `c/\src\shop`,
		"C:/src/shop":                                    "/src/shop",
		"":                                               "",
		"https://%zz/":                                   "",
	} {
		if got := NormalURL(url); got != want {
			t.Errorf("NormalURL(%q) = %q, want %q", url, got, want)
		}
	}
}
