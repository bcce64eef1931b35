package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	capturing "github.com/memvcs/mem/layers/capture"
)

// jsonPage is the page that TestDocsJSON keeps: go test ./cmd/mem -run TestDocsJSON -update writes it.
var jsonPage = filepath.Join("..", "..", "docs", "json.md")

// jsonJourney are the commands whose answers are the examples of docs/json.md, one after the other in one memory.
// Those that begin with "!" may fail, those that begin with "." print nothing; RULE and ORIGINAL are replaced by
// what commands before them printed.
const jsonJourney = `
!ls
init --device desk
init --device desk
add $SHOP/6ecd8c99-4036-403d-bf84-cf8400f67836.jsonl
import $SAMPLE
add --all -p shop
overview -p shop
status -p shop
status --layers -p shop
layers build -p shop
ls -p shop
compress 6ecd8c99 --ratio 10
compress 6ecd8c99 --preset standard
ls 6ecd8c99
show 6ecd8c99
show 6ecd8c99#31
next -p shop
search reserve zebra
suggest refund rounding -p shop
diff 6ecd8c99:v001 6ecd8c99:v002
blame 6ecd8c99:v001
why 6ecd8c99:v001
why 6ecd8c99 --down
compose feature-x 6ecd8c99 9b2cf535 --budget 8k -p shop
ls --compositions -p shop
checkout feature-x -o context -p shop
log --project shop
log --undo --project shop
log --handed --project shop
keepit list 6ecd8c99
keepit list --handed -p shop
keepit show 6ecd8c99 k1
keepit preview 6ecd8c99 -r 30
keepit lint -p shop
keepit set 6ecd8c99 k4 0.5
facts schema
facts draft 6ecd8c99
facts save facts.json
facts list -p shop
facts show 6ecd8c99
facts verify 6ecd8c99
facts save -s 6ecd8c99 answers.json
facts add "Refunds are rare" --kind decision -p shop
concepts assign 6ecd8c99 --new Prices --topic cents
concepts list -p shop
concepts show c001 -p shop
concepts candidates -p shop
concepts rename c001 Money -p shop
rules add "Never force-push" -p shop
import store -p shop
rules list -p shop
rules show RULE -p shop
rules review -p shop
rules validate RULE -p shop
reflect -p shop
memory -p shop
resume 6ecd8c99 -n -C /home/dev/shop
stats -p shop
stats --by day
stats --usage -p shop
stats 6ecd8c99
tier status -p shop
tier run -p shop
export --format facts -p shop -o facts-view.json
export --l1 pages -p shop
mv 6ecd8c99 "Whole cents"
.tag release 6ecd8c99:v001
tag -p shop
rm 6ecd8c99:v002
undo -p shop
redo -p shop
rm --unused 6ecd8c99 -y
remote add origin hub.git
remote list
push --all -y
remote show
gc --remote origin
fetch
pull
sync
remote rename origin backup
remote set-url backup hub.git
--mem-dir laptop clone hub.git
--mem-dir laptop device list
--mem-dir laptop device trust -y desk
--mem-dir laptop device rename desk tower
--mem-dir laptop device drop tower -y
device list
secrets scan -p shop
secrets list -p shop
secrets rules
secrets allow 1password-secret-key --reason example
revoke 9b2cf535 --reason "wrong project" -y
revoke -p shop
revoke 9b2cf535 --undo -y
project list
project show
project link shop
add -u
notes list
notes log MEMORY.md
notes show MEMORY.md
project unlink
project merge pricing -n
project split
project relate 6ecd8c99 --to pricing --reason "shared code"
project share shop pricing
config list
config get hooks.contextSize
config set hooks.contextSize 5000
config unset hooks.contextSize
token add editor
token list
token rm editor
hooks status
hooks install
hooks uninstall
doctor
fsck
fsck --reproduce 6ecd8c99:v001
fsck --repair
gc
forget 7d444840 -n
cat-file -s ORIGINAL
hash-object facts.json
ls-objects -p shop
rev-parse 6ecd8c99:v001
plugin-path
completion bash
help log
version
`

// jsonElsewhere are the schemas that need a model, a second person, a long run or a listening server, with the
// script that checks them.
func jsonElsewhere() map[string]string {
	return map[string]string{
		"device.approve": "encrypt", "remote.recovery-key": "encrypt", "distill": "distill", "serve": "serve",
		"hooks.test": "hooks-install", "rules.dismiss": "rules", "facts.judge": "facts", "prune": "undo", "test": "", "hooks.": "",
		"next.drop": "next-drop", "next.dropped": "next-drop", "next.undrop": "next-drop",
	}
}

// TestDocsJSON checks that docs/json.md has an example of each schema with the members that the command prints today.
func TestDocsJSON(t *testing.T) {
	t.Parallel()
	got := jsonExamples(t)
	for _, name := range schemasInCode(t) {
		script, elsewhere := jsonElsewhere()[name]
		if _, ok := got[name]; !ok && !elsewhere {
			t.Errorf("no command of the journey prints the schema mem.%s/v1", name)
		} else if !ok && script != "" {
			if _, err := os.Stat(filepath.Join("testdata", "script", script+".txtar")); err != nil {
				t.Error(err)
			}
		}
	}
	page, err := os.ReadFile(jsonPage)
	must(t, err)
	for _, block := range fenced(t, jsonPage, "json") {
		var documented, now map[string]any
		must(t, json.Unmarshal([]byte(block), &documented))
		name := schemaName(documented)
		x, ok := got[name]
		if !ok {
			continue
		}
		must(t, json.Unmarshal(x.answer, &now))
		was, is := membersOf("", documented), membersOf("", now)
		if slices.Equal(was, is) {
			got[name] = jsonExample{x.command, []byte(strings.TrimSuffix(block, "\n"))} // with the values of the page
		} else if !*update {
			t.Errorf("the example of mem.%s/v1 has other members:\n%s\nwant\n%s", name, strings.Join(was, "\n"), strings.Join(is, "\n"))
		}
	}
	for name, x := range got {
		var v map[string]any
		must(t, json.Unmarshal(x.answer, &v))
		for _, at := range membersOf("", v) {
			member := at[strings.LastIndexByte(at, '.')+1:]
			if strings.Contains(member, "_") && name != "compress" && member != "l1_range" {
				t.Errorf("mem.%s/v1: the member %s is not in camel case, as those of the manifest and the API", name, at)
			}
		}
	}
	want := append(jsonText(got), objectsText(t)...)
	if *update {
		must(t, os.WriteFile(jsonPage, want, 0o644))
		return
	}
	if !bytes.Equal(page, want) {
		t.Error("docs/json.md is not what the commands print: go test ./cmd/mem -run TestDocsJSON -update")
	}
	if !bytes.Contains(page, []byte("mem.error/v1")) {
		t.Error("the page does not show an error")
	}
}

// A jsonExample is a command and its answer, cut to what an example needs.
type jsonExample struct {
	command string
	answer  []byte
}

// jsonExamples runs the journey and returns the first answer of each schema.
func jsonExamples(t *testing.T) map[string]jsonExample {
	t.Helper()
	dir := t.TempDir()
	sample, err := filepath.Abs(filepath.Join("..", "..", "testdata", "transcripts"))
	must(t, err)
	must(t, os.MkdirAll(filepath.Join(dir, "hub.git"), 0o700))
	facts := `{"session": "6ecd8c99", "through": 66, "exchanges": [{"l1_range": [10, 23], "topic": "whole cents", "facts": [
 {"kind": "decision", "text": "Prices are int64 cents everywhere, never floats.", "files": ["price/price.go"],
  "evidence": [{"message": 31, "quote": "Prices are int64 cents everywhere, never floats."}]}]}]}`
	must(t, os.WriteFile(filepath.Join(dir, "facts.json"), []byte(facts), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "answers.json"), []byte(`{"answers": [{"id": "f:53e5790b", "answer": "supported"}]}`), 0o600))
	initBare(t, filepath.Join(dir, "hub.git"))
	must(t, os.MkdirAll(filepath.Join(dir, "store"), 0o700))
	must(t, os.WriteFile(filepath.Join(dir, "store", "facts.json"),
		[]byte(`{"decisions": [{"id": "d001", "content": "The shop closes on Sundays."}], "permanent": {"rules": []}}`), 0o600))
	claude := filepath.Join(dir, "claude")
	memory := filepath.Join(claude, "projects", capturing.ClientDir(dir), "memory")
	must(t, os.MkdirAll(memory, 0o700))
	must(t, os.WriteFile(filepath.Join(memory, "MEMORY.md"), []byte("# Memory\n\n- Prices are whole cents.\n"), 0o600))
	written := time.Date(2026, 5, 31, 9, 0, 0, 0, time.UTC)
	must(t, os.Chtimes(filepath.Join(memory, "MEMORY.md"), written, written))
	out := map[string]jsonExample{}
	known := map[string]string{"$SAMPLE": sample, "$SHOP": filepath.Join(sample, "projects", "-home-dev-shop")}
	for line := range strings.Lines(strings.TrimSpace(jsonJourney)) {
		line = strings.TrimSpace(line)
		words := shellWords(strings.TrimLeft(line, "!."))
		for i := range words {
			for from, to := range known {
				words[i] = strings.Replace(words[i], from, to, 1)
			}
		}
		if words[0] == "overview" {
			words = words[1:]
		}
		var stdout, stderr bytes.Buffer
		env := testEnv(t, filepath.Join(dir, "memory"), &stdout, &stderr)
		env.Dir = dir
		if line == "add -u" || words[0] == "notes" { // of Claude's own memory; the other commands have none
			getenv := env.Getenv
			env.Getenv = func(name string) string {
				if name == "CLAUDE_CONFIG_DIR" {
					return claude
				}
				return getenv(name)
			}
		}
		env.Executable = func() (string, error) { return "/usr/local/bin/mem", nil }
		env.Hostname = func() (string, error) {
			if words[0] == "--mem-dir" {
				return words[1], nil
			}
			return "desk", nil
		}
		code := run(t.Context(), env, append([]string{"--json"}, words...))
		first, _, _ := strings.Cut(stdout.String(), "\n")
		if strings.HasPrefix(line, ".") && code == 0 && first == "" {
			continue
		}
		if first == "" {
			first, _, _ = strings.Cut(stderr.String(), "\n")
		}
		var answer map[string]any
		if err := json.Unmarshal([]byte(first), &answer); err != nil {
			t.Errorf("mem %s: exit status %d, %v: %.300s%.300s", line, code, err, stdout.String(), stderr.String())
			continue
		}
		name := schemaName(answer)
		if name == "error" && !strings.HasPrefix(line, "!") {
			t.Errorf("mem %s: %s", line, first)
			continue
		}
		if rule := regexp.MustCompile(`r:[0-9a-f]{8,}`).FindString(first); rule != "" {
			known["RULE"] = rule
		}
		if name == "add" {
			known["ORIGINAL"] = "b3:c5f4be03"
		}
		if _, ok := out[name]; !ok {
			command := strings.NewReplacer("!", "", "overview ", "", "$SHOP/", "", "$SAMPLE", "sample").Replace(line)
			out[name] = jsonExample{command, shortened(t, first, dir, sample)}
		}
	}
	return out
}

// schemaName is the name in the schema of an answer; search, which prints an object a line, has none.
func schemaName(answer map[string]any) string {
	name, ok := answer["schema"].(string)
	if !ok {
		return "search"
	}
	return strings.TrimSuffix(strings.TrimPrefix(name, "mem."), "/v1")
}

// initBare makes an empty bare repository.
func initBare(t *testing.T, dir string) {
	t.Helper()
	for _, d := range []string{"objects/pack", "objects/info", "refs/heads", "refs/tags"} {
		must(t, os.MkdirAll(filepath.Join(dir, filepath.FromSlash(d)), 0o700))
	}
	must(t, os.WriteFile(filepath.Join(dir, "HEAD"), []byte("ref: refs/heads/main\n"), 0o600))
	config := "[core]\n\tbare = true\n\trepositoryformatversion = 0\n"
	must(t, os.WriteFile(filepath.Join(dir, "config"), []byte(config), 0o600))
}

// shortened cuts lists to their first element and long texts, and replaces the directories of the test.
func shortened(t *testing.T, answer, dir, sample string) []byte {
	t.Helper()
	answer = strings.NewReplacer(sample, "/home/dev/sample", dir, "/home/dev").Replace(answer)
	answer = regexp.MustCompile(`[^" ]*/TestDocsJSON[0-9]+/[0-9]+`).ReplaceAllString(answer, "/home/dev")
	d := json.NewDecoder(strings.NewReader(answer))
	d.UseNumber()
	var b bytes.Buffer
	must(t, cutJSON(d, &b))
	var wide bytes.Buffer
	must(t, json.Indent(&wide, b.Bytes(), "", "  "))
	return wide.Bytes()
}

// cutJSON copies a value, members in their order.
func cutJSON(d *json.Decoder, out *bytes.Buffer) error {
	tok, err := d.Token()
	if err != nil {
		return err
	}
	switch v := tok.(type) {
	case json.Delim:
		out.WriteString(v.String())
		for n := 0; d.More(); n++ {
			to := out
			if v == '[' && n > 0 {
				to = &bytes.Buffer{}
			}
			if n > 0 && to == out {
				out.WriteByte(',')
			}
			if v == '{' {
				if err := cutJSON(d, to); err != nil {
					return err
				}
				to.WriteByte(':')
			}
			if err := cutJSON(d, to); err != nil {
				return err
			}
		}
		end, err := d.Token()
		if err == nil {
			out.WriteString(end.(json.Delim).String())
		}
		return err
	case string:
		if r := []rune(v); len(r) > 90 {
			v = string(r[:80]) + "..."
		}
		b, err := json.Marshal(v)
		out.Write(b)
		return err
	case nil:
		_, err = io.WriteString(out, "null")
		return err
	}
	_, err = fmt.Fprint(out, tok)
	return err
}

// membersOf lists the paths of all members of a value.
func membersOf(path string, v any) []string {
	var list []string
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			at := path + "." + k
			if variableMember().MatchString(k) {
				at = path + ".*"
			}
			list = append(append(list, at), membersOf(at, v[k])...)
		}
	case []any:
		if len(v) > 0 {
			list = membersOf(path+"[]", v[0])
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// variableMember matches members that are values themselves: ids, hashes, dates, paths.
var variableMember = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[0-9a-f-]{8,}$|^[0-9.]+$|[/:]`)
})

// jsonText is the page.
func jsonText(examples map[string]jsonExample) []byte {
	var b bytes.Buffer
	b.WriteString(`# JSON

With ` + "`--json`" + `, a command prints one JSON object with the same facts as its text. Its first member is ` + "`schema`" + `, the name of
the command and a version. A member is only added; one that changes its meaning gets another name or another version of the
schema. Times are RFC 3339 in UTC, sizes are bytes, token counts are estimates. An error is one object on standard error.

` + "`TestDocsJSON`" + ` runs the commands on the sample of this repository and checks that the examples have the members that are printed
today. Lists are cut to their first element, long texts end in "...".
`)
	for _, name := range slices.Sorted(maps.Keys(examples)) {
		x := examples[name]
		heading := "mem." + name + "/v1"
		if name == "search" {
			heading = "mem search: one object a line, without a schema"
		}
		fmt.Fprintf(&b, "\n## %s\n\n    mem --json %s\n\n```json\n%s\n```\n", heading, x.command, x.answer)
	}
	elsewhere := jsonElsewhere()
	b.WriteString("\n## Other schemas\n\n" +
		"These need a model, another person, a long run or a server; the script that is named shows each.\n\n")
	for _, name := range slices.Sorted(maps.Keys(elsewhere)) {
		if elsewhere[name] != "" && examples[name].answer == nil {
			fmt.Fprintf(&b, "- `mem.%s/v1`: `cmd/mem/testdata/script/%s.txtar`\n", name, elsewhere[name])
		}
	}
	return b.Bytes()
}

// schemasInCode returns the names that the commands print, by the literals of their code.
func schemasInCode(t *testing.T) []string {
	t.Helper()
	names := map[string]bool{}
	literal := regexp.MustCompile(`PrintJSON(?:List)?\((?:e, )?"([a-z._-]+)"`)
	must(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		b, err := os.ReadFile(path)
		for _, m := range literal.FindAllStringSubmatch(string(b), -1) {
			names[m[1]] = true
		}
		return err
	}))
	return slices.Sorted(maps.Keys(names))
}
