package plants

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
)

// An Alphabet is a way in which passwords are made.
type Alphabet struct {
	Name string
	Make func(r *rand.Rand) string
}

// Alphabets returns the character sets of the recall table: what password managers, browsers and people produce.
func Alphabets() []Alphabet {
	return []Alphabet{
		{"printable", func(r *rand.Rand) string { return pick(r, printable(), 20) }},
		{"manager", func(r *rand.Rand) string { return mixed(r, "!@#$%^&*-_.+=?", 14+r.IntN(11)) }},
		{"manager-short", func(r *rand.Rand) string { return mixed(r, "!@#$%^&*", 10+r.IntN(5)) }},
		{"chrome", func(r *rand.Rand) string { return mixed(r, "_-.:!", 15) }},
		{"firefox", func(r *rand.Rand) string { return mixed(r, "", 15) }},
		{"apple", apple},
		{"word.word", func(r *rand.Rand) string { return capital(word(r)) + "." + capital(word(r)) + pick(r, figs, 1) }},
		{"words", joined},
		{"letters", func(r *rand.Rand) string { return pick(r, lowers, 12+r.IntN(9)) }},
		{"letters mixed", func(r *rand.Rand) string { return pick(r, lowers+uppers, 12+r.IntN(13)) }},
		{"letters chrome", func(r *rand.Rand) string {
			return pick(r, lowers+uppers, 1) + pick(r, lowers+uppers+"_-.:!", 13) + pick(r, lowers, 1)
		}},
		{"letters symbols", func(r *rand.Rand) string { return pick(r, lowers+uppers+"!@#$%^&*", 16) }},
		{"letters apple", func(r *rand.Rand) string {
			return pick(r, lowers, 6) + "-" + pick(r, lowers, 6) + "-" + pick(r, lowers+uppers, 6)
		}},
		{"groups", func(r *rand.Rand) string {
			return pick(r, lowers, 4) + " " + pick(r, lowers, 4) + " " + pick(r, lowers, 4) + " " + pick(r, lowers, 4)
		}},
		{"groups -", func(r *rand.Rand) string {
			return pick(r, lowers, 4) + "-" + pick(r, lowers, 4) + "-" + pick(r, lowers, 4) + "-" + pick(r, lowers, 4)
		}},
		{"phrase", func(r *rand.Rand) string { return word(r) + "-" + word(r) + "-" + word(r) + "-" + word(r) }},
	}
}

// printable returns every visible character of ASCII.
func printable() string {
	var b strings.Builder
	for c := byte('!'); c <= '~'; c++ {
		b.WriteByte(c)
	}
	return b.String()
}

// mixed returns n characters: letters, digits and symbols, at least one of each kind, in any order.
func mixed(r *rand.Rand, symbols string, n int) string {
	p := []byte(pick(r, lowers, 1) + pick(r, uppers, 1) + pick(r, figs, 1))
	if symbols != "" {
		p = append(p, pick(r, symbols, 1)...)
	}
	p = append(p, pick(r, alnums+symbols, n-len(p))...)
	r.Shuffle(len(p), func(i, j int) { p[i], p[j] = p[j], p[i] })
	return string(p)
}

// apple returns a password in the form of Apple's keychain: three groups of six small letters, in which one letter is a capital and,
// usually, one is a digit.
func apple(r *rand.Rand) string {
	p := []byte(pick(r, lowers, 6) + "-" + pick(r, lowers, 6) + "-" + pick(r, lowers, 6))
	at := r.Perm(18)
	at[0], at[1] = at[0]+at[0]/6, at[1]+at[1]/6
	p[at[0]] -= 'a' - 'A'
	if r.IntN(4) > 0 {
		p[at[1]] = pick(r, figs, 1)[0]
	}
	return string(p)
}

// joined returns two to four words with one of . _ - or a digit between them, and digits behind them.
func joined(r *rand.Rand) string {
	between := pick(r, "._-"+figs, 1)
	parts := make([]string, 2+r.IntN(3))
	upper := r.IntN(2) == 0
	for i := range parts {
		if parts[i] = word(r); upper {
			parts[i] = capital(parts[i])
		}
	}
	return strings.Join(parts, between) + pick(r, figs, 1+r.IntN(3))
}

func capital(w string) string { return strings.ToUpper(w[:1]) + w[1:] }

func word(r *rand.Rand) string {
	words := strings.Fields(`anchor apple autumn bacon badge bamboo banjo basil beacon bishop blanket bottle breeze bronze cactus camel candle canyon
		carbon castle cedar cherry cobalt copper coral cricket crystal dagger daisy desert dolphin dragon eagle ember falcon feather fern
		forest fossil galaxy garlic ginger glacier granite hammer harbor hazel honey horse iceberg island ivory jacket jungle kettle
		ladder lagoon lantern lemon lizard lumber magnet maple marble meadow melon mirror monsoon mountain nectar needle oasis ocean
		olive onion orange orchid otter oyster paddle panther paper pebble pepper pigeon planet plum pocket polar quartz rabbit
		raven ribbon river rocket saddle salmon sparrow spider spruce stable sunset tiger timber tundra turtle valley velvet violin
		walnut whisper willow winter yellow zebra`)
	return words[r.IntN(len(words))]
}

// A Position is a place in which passwords stand. Text returns a text with a secret in it, as that place writes it, in text[from:to].
type Position struct {
	Name string
	Text func(r *rand.Rand, secret string) (text string, from, to int)
}

// A form is a text around a secret, for %s, with the key that names it, for %k, and the way in which the secret is written there.
type form struct {
	text  string
	write func(string) (quote, inner string) // the quote stands on both sides
}

// Positions returns the places of the recall table.
func Positions() []Position {
	plain := func(s string) (string, string) { return "", s }
	query := func(s string) (string, string) { return "", url.QueryEscape(s) }
	return []Position{
		{"json", at(lowerKeys(), form{`{"user": "app", "%k": "%s", "port": 5432}`, inJSON}, form{"{\n  \"host\": \"db\",\n  \"%k\": \"%s\"\n}", inJSON}, form{`{"%k":"%s"}`, inJSON})},
		{"yaml", at(lowerKeys(), form{"db:\n  host: db\n  %k: %s\n  port: 1\n", inYAML}, form{"%k: %s\n", inYAML}, form{"env:\n  - %k: \"%s\"\n", inJSON})},
		{"env", at(upperKeys(), form{"PORT=80\n%k=%s\nDEBUG=1\n", plain}, form{"%k=%s", plain}, form{"export %k='%s'\n", inSingle}, form{"%k=\"%s\"\n", inDouble})},
		{"url", at(nil, form{"DATABASE_URL=postgres://app:%s@db.internal:5432/x\n", query}, form{"git clone https://ci:%s@git.corp/a/b.git", query},
			form{`"broker": "amqp://app:%s@mq:5672/v"`, query}, form{"redis://:%s@cache:6379/0", query})},
		{"shell", at(upperKeys(), form{"export %k='%s'; ./run", inSingle}, form{"%k='%s' ./run --port 80", inSingle}, form{"mysql -u app --password='%s' shop", inSingle},
			form{"curl -u 'app:%s' https://api.corp/x", inSingle}, form{"docker run -e %k=\"%s\" -p 80:80 img", inDouble}, form{"sshpass -p '%s' ssh app@host", inSingle})},
		{"ado.net", at(nil, form{"Server=db;Database=shop;User Id=app;Password=%s;Encrypt=true", inADO}, form{"Data Source=db;Initial Catalog=shop;Pwd=%s;Uid=app\n", inADO},
			form{"Server=db;Uid=app;Password=%s", inADO})},
		{"python", at(lowerKeys(), form{"%k = \"%s\"\nconnect()\n", inPython}, form{"conn = connect(host=\"db\", %k=\"%s\", port=1)\n", inPython}, form{"cfg = {\"user\": \"app\", \"%k\": \"%s\"}\n", inPython},
			form{"os.environ[\"DB_PASSWORD\"] = \"%s\"\n", inPython})},
		{"prose", at(nil, form{"The password is %s and the user is app", plain}, form{"password: %s", plain}, form{"I set the password to `%s` today", plain}, form{"log in as app with password %s", plain},
			form{"The password of the database is: %s\nPlease keep it.", plain}, form{"user app, password \"%s\" on db", inJSON})},
	}
}

func lowerKeys() []string {
	return []string{"password", "db_password", "dbPassword", "passwd", "passphrase", "client_secret", "secret"}
}

func upperKeys() []string {
	return []string{"DB_PASSWORD", "PGPASSWORD", "SMTP_PASSWORD", "ADMIN_PASSWD", "APP_SECRET", "CLIENT_SECRET"}
}

// at returns a maker of texts in one of the forms, with one of the keys.
func at(keys []string, forms ...form) func(*rand.Rand, string) (string, int, int) {
	return func(r *rand.Rand, secret string) (string, int, int) {
		f := forms[r.IntN(len(forms))]
		text := f.text
		if len(keys) > 0 {
			text = strings.Replace(text, "%k", keys[r.IntN(len(keys))], 1)
		}
		before, after, _ := strings.Cut(text, "%s")
		quote, inner := f.write(secret)
		before += quote
		return before + inner + quote + after, len(before), len(before) + len(inner)
	}
}

func inJSON(s string) (string, string) {
	q := quoteJSON(s)
	return "", q[1 : len(q)-1]
}

// quoteJSON returns s as JavaScript and most other languages write it in JSON.
func quoteJSON(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic(err) // strings marshal
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// inYAML returns s as a plain scalar, or between single quotes where YAML would read something else.
func inYAML(s string) (string, string) {
	if strings.ContainsAny(s[:1], "-?:,[]{}#&*!|>'\"%@`") || strings.HasSuffix(s, ":") {
		return "'", strings.ReplaceAll(s, "'", "''")
	}
	return "", s
}

func inSingle(s string) (string, string) { return "", strings.ReplaceAll(s, "'", `'\''`) }

func inDouble(s string) (string, string) {
	return "", strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(s)
}

func inADO(s string) (string, string) {
	if strings.ContainsAny(s, `;'"`) || s[0] == '=' {
		return `"`, strings.ReplaceAll(s, `"`, `""`)
	}
	return "", s
}

func inPython(s string) (string, string) {
	return "", strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s)
}

// A Cell counts what was found of the secrets of one alphabet in one position.
type Cell struct{ Found, All int }

// Percent returns the share that was found.
func (c Cell) Percent() float64 { return 100 * float64(c.Found) / float64(max(1, c.All)) }

// A Recall holds a row for each of [Alphabets], and in it a cell for each of [Positions].
type Recall [][]Cell

// Measure makes n secrets for each cell, the same for the same seed, and asks covers whether all bytes of line[from:to] are found.
func Measure(seed uint64, n int, covers func(alphabet, position string, line []byte, from, to int) bool) Recall {
	var out Recall
	for i, a := range Alphabets() {
		var row []Cell
		for k, p := range Positions() {
			r := rand.New(rand.NewPCG(seed, uint64(i<<8|k)))
			c := Cell{All: n}
			for range n {
				text, from, to := p.Text(r, a.Make(r))
				line := `{"type":"user","uuid":"u1","message":{"role":"user","content":`
				from, to = len(line)+len(quoteJSON(text[:from]))-1, len(line)+len(quoteJSON(text[:to]))-1
				if line += quoteJSON(text) + "}}\n"; covers(a.Name, p.Name, []byte(line), from, to) {
					c.Found++
				}
			}
			row = append(row, c)
		}
		out = append(out, row)
	}
	return out
}

// Total returns the sum of all cells.
func (t Recall) Total() (sum Cell) {
	for _, row := range t {
		for _, c := range row {
			sum.Found, sum.All = sum.Found+c.Found, sum.All+c.All
		}
	}
	return sum
}

// Least returns the cell of which the smallest share was found, with its names.
func (t Recall) Least() (least Cell, alphabet, position string) {
	least = Cell{1, 1}
	for i, a := range Alphabets() {
		for k, p := range Positions() {
			if c := t[i][k]; c.Percent() < least.Percent() || alphabet == "" {
				least, alphabet, position = c, a.Name, p.Name
			}
		}
	}
	return least, alphabet, position
}

// String returns the table as Markdown.
func (t Recall) String() string {
	var b strings.Builder
	b.WriteString("| found, % |")
	for _, p := range Positions() {
		b.WriteString(" " + p.Name + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(Positions())) + "\n")
	for i, a := range Alphabets() {
		b.WriteString("| " + a.Name + " |")
		for _, c := range t[i] {
			fmt.Fprintf(&b, " %.1f |", c.Percent())
		}
		b.WriteString("\n")
	}
	return b.String()
}

// Covers reports whether the spans, which are in order, cover every byte from from to to.
func Covers(from, to int, spans [][2]int) bool {
	for _, s := range spans {
		if s[0] <= from && s[1] > from {
			from = s[1]
		}
	}
	return from >= to
}
