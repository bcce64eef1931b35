package projects

import (
	"strings"
	"testing"
)

// TestNormalURL holds that forms of one URL are one project, and that other URLs are others.
func TestNormalURL(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"https://me:secret@GitHub.com:443/dev/shop.git/":               "github.com/dev/shop",
		"git@github.com:dev/shop.git":                                  "github.com/dev/shop",
		"ssh://git@github.com/dev/shop":                                "github.com/dev/shop",
		"git+ssh://git@github.com/dev/shop":                            "github.com/dev/shop",
		"git@github.com:/dev/shop.git":                                 "github.com/dev/shop",
		"https://github.com//dev/shop":                                 "github.com/dev/shop",
		"https://github.com./dev/shop":                                 "github.com/dev/shop",
		"ssh://git@ssh.github.com:443/Dev/Shop.git":                    "github.com/dev/shop",
		"[git@ssh.github.com:443]:dev/shop.git":                        "github.com/dev/shop",
		"git@[ssh.github.com:443]:dev/shop.git":                        "github.com/dev/shop",
		"https://www.github.com/dev/shop":                              "github.com/dev/shop",
		"ssh://git@altssh.gitlab.com:443/Dev/Shop.git":                 "gitlab.com/dev/shop",
		"ssh://git@altssh.bitbucket.org:443/Dev/Shop":                  "bitbucket.org/dev/shop",
		"https://codeberg.org/Dev/Shop":                                "codeberg.org/dev/shop",
		"https://org@dev.azure.com/Org/Web/_git/Shop":                  "dev.azure.com/org/web/shop",
		"git@ssh.dev.azure.com:v3/org/web/shop":                        "dev.azure.com/org/web/shop",
		"https://org.visualstudio.com/web/_git/shop":                   "dev.azure.com/org/web/shop",
		"https://org.visualstudio.com/DefaultCollection/web/_git/shop": "dev.azure.com/org/web/shop",
		"org@vs-ssh.visualstudio.com:v3/org/web/shop":                  "dev.azure.com/org/web/shop",
		"https://git.example.org/Dev/Shop":                             "git.example.org/Dev/Shop",
		"https://git.example.org/dev/shop":                             "git.example.org/dev/shop",
		"git@gitlab.example.org:Dev/shop":                              "gitlab.example.org/Dev/shop",
		"/srv/git/shop.git":                                            "/srv/git/shop",
		"file:///srv/git/shop.git":                                     "/srv/git/shop",
		"g:dev/shop.git":                                               "g/dev/shop",
		"h:dev/shop.git":                                               "h/dev/shop",
		`C:\src\shop`:                                                  `c/\src\shop`,
		"C:/src/shop":                                                  "/src/shop",
		"":                                                             "",
		"https://%zz/":                                                 "",
	} {
		if got := NormalURL(url); got != want {
			t.Errorf("NormalURL(%q) = %q, want %q", url, got, want)
		}
	}
}

// TestRemote holds that the settings of git that change which repository a remote is are followed.
func TestRemote(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.write(".gitconfig", "[url \"git@github.com:\"]\n\tinsteadOf = gh:\n\tinsteadOf = \"github:\"\n[url \"https://github.com/dev/\"]\n\tinsteadOf = gh:dev/\n"+
		"[include]\n\tpath = more\n[includeIf \"gitdir:~/work/\"]\n\tpath = conditional\n")
	m.write("more", "[url \"https://codeberg.org/\"]\n\tinsteadOf = cb:\n")
	m.write("conditional", "[url \"git@gitlab.com:\"]\n\tinsteadOf = w:\n")
	for name, tt := range map[string]struct{ config, want string }{
		"plain":     {"[remote \"origin\"]\n\turl = git@github.com:dev/shop.git\n", "origin github.com/dev/shop"},
		"comment":   {"[remote \"origin\"] # mine\n\turl = git@github.com:dev/shop.git ; moved\n", "origin github.com/dev/shop"},
		"quoted":    {"[remote \"origin\"]\n\turl = \"git@github.com:dev/shop\" # x\n", "origin github.com/dev/shop"},
		"oneline":   {"[remote \"origin\"] url = git@github.com:dev/shop\n", "origin github.com/dev/shop"},
		"continued": {"[remote \"origin\"]\n\turl = git@github.com:\\\ndev/shop\n", "origin github.com/dev/shop"},
		"case":      {"[REMOTE \"origin\"]\n\tURL = git@github.com:Dev/Shop\n", "origin github.com/dev/shop"},
		"instead":   {"[remote \"origin\"]\n\turl = gh:other/shop\n", "origin github.com/other/shop"},
		"longest":   {"[remote \"origin\"]\n\turl = gh:dev/shop\n", "origin github.com/dev/shop"},
		"included":  {"[remote \"origin\"]\n\turl = cb:dev/shop\n", "origin codeberg.org/dev/shop"},
		"work/cond": {"[remote \"origin\"]\n\turl = w:dev/shop\n", "origin gitlab.com/dev/shop"},
		"file":      {"[include]\n\tpath = remotes\n", "origin github.com/dev/included"},
		"sole":      {"[remote \"github\"]\n\turl = git@github.com:dev/shop\n", "origin github.com/dev/shop"},
		"several":   {"[remote \"a\"]\n\turl = git@github.com:dev/a\n[remote \"b\"]\n\turl = git@github.com:dev/b\n", "root "},
		"push":      {"[remote \"origin\"]\n\tpushurl = git@github.com:dev/push\n", "root "},
		"empty":     {"[remote \"origin\"]\n\turl =\n", "root "},
	} {
		m.repo(name)
		m.write(name+"/.git/remotes", "[remote \"origin\"]\n\turl = git@github.com:dev/included\n")
		m.write(name+"/.git/config", "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"+tt.config)
		if got := m.locate(name).Identity; got != tt.want && !(strings.HasSuffix(tt.want, " ") && strings.HasPrefix(got, tt.want)) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// TestRemoteWithoutGit holds that the remote is found on a machine without git.
func TestRemoteWithoutGit(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.write("shop/.git/config", "[core] ; x\n\tbare = false\n[remote \"origin\"] # mine\n\turl = \"git@github.com:dev/shop.git\" ; old\n\tfetch = +refs/heads/*\n# [remote \"origin\"]\n")
	f := m.finder()
	f.command = nil
	if p, _ := f.Locate(t.Context(), m.path("shop")); p.Identity != "origin github.com/dev/shop" {
		t.Errorf("it is %+v", p)
	}
}
