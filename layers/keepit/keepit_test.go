package keepit

import (
	"encoding/json"
	"math/rand"
	"strings"
	"testing"
	"testing/quick"
)

func TestParseWeight(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]Weight{"0.80": 80, "1.00": 100, "0.00": 0, "0.05": 5} {
		got, err := ParseWeight(s)
		if err != nil || got != want || got.String() != s {
			t.Errorf("ParseWeight(%q) = %v, %v, want %v", s, got, err, want)
		}
	}
	for _, s := range []string{"", "0.8", "0,80", "1.01", "-0.1", "80", ".80", "0.800", "٠.80", "1.0 ", "9.99", "1e-1"} {
		if w, err := ParseWeight(s); err == nil {
			t.Errorf("ParseWeight(%q) = %v, want an error", s, w)
		}
	}
}

func TestParseTyped(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]Weight{"0.80": 80, "0.9": 90, "1": 100, "0": 0, "1.0": 100, "pinned": 100, "Critical": 90, "important": 75, "notable": 50, "minor": 25, "hint": 10} {
		if got, err := ParseTyped(s); err != nil || got != want {
			t.Errorf("ParseTyped(%q) = %v, %v, want %v", s, got, err, want)
		}
	}
	for _, s := range []string{"", "2", "0.801", "1.1", ".9", "vital", "9"} {
		if w, err := ParseTyped(s); err == nil {
			t.Errorf("ParseTyped(%q) = %v, want an error", s, w)
		}
	}
}

func TestLevel(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]Level{"light": Minimal, "Minimal": Minimal, "mod": Moderate, "AGGRESSIVE": Aggressive} {
		if got, err := ParseLevel(s); err != nil || got != want {
			t.Errorf("ParseLevel(%q) = %v, %v, want %v", s, got, err, want)
		}
	}
	if _, err := ParseLevel("hard"); err == nil {
		t.Error(`ParseLevel("hard") succeeded`)
	}
	for r, want := range map[int]Level{2: Minimal, 5: Minimal, 6: Moderate, 15: Moderate, 16: Aggressive, 50: Aggressive} {
		if got := LevelFor(r); got != want {
			t.Errorf("LevelFor(%d) = %v, want %v", r, got, want)
		}
	}
	b, err := json.Marshal(map[string]any{"w": Weight(5), "l": Aggressive})
	if err != nil || string(b) != `{"l":"aggressive","w":"0.05"}` {
		t.Errorf("as JSON: %s, %v", b, err)
	}
}

func TestKeeps(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		w         Weight
		p         Pressure
		keeps     bool
		threshold int
	}{
		{"example 1: barely", 80, Pressure{Level: Aggressive, Ratio: 30, Distance: 10}, true, 800},
		{"example 2", 80, Pressure{Level: Aggressive, Ratio: 30, Distance: 5}, true, 650},
		{"example 3", 25, Pressure{Level: Moderate, Ratio: 15, Distance: 10}, false, 450},
		{"example 4", 50, Pressure{Level: Minimal, Ratio: 5, Distance: 7}, true, 135},
		{"example 5: pinned", 100, Pressure{Level: Aggressive, Ratio: 1 << 30, Distance: 10}, true, 500 + 10<<30},
		{"appendix A m1", 100, Pressure{Level: Aggressive, Ratio: 30, Distance: 5}, true, 650},
		{"appendix A m3", 50, Pressure{Level: Aggressive, Ratio: 30, Distance: 5}, false, 650},
		{"one below", 79, Pressure{Level: Aggressive, Ratio: 30, Distance: 10}, false, 800},
		{"distance stops at 10", 80, Pressure{Level: Aggressive, Ratio: 30, Distance: 99}, true, 800},
		{"other decay", 40, Pressure{Level: Minimal, Ratio: 10, Distance: 2, Decay: Decay{20, 40, 60, 4, 90}}, true, 250},
	} {
		if got := c.p.Keeps(c.w); got != c.keeps {
			t.Errorf("%s: Keeps(%v) = %v, want %v", c.name, c.w, got, c.keeps)
		}
		if got := c.p.Threshold(); got != c.threshold {
			t.Errorf("%s: Threshold() = %d, want %d", c.name, got, c.threshold)
		}
		if got := c.p.Margin(c.w); got != 10*int(c.w)-c.threshold {
			t.Errorf("%s: Margin = %d", c.name, got)
		}
	}
}

// The mock-up of the compression dialog shows seven markers at a threshold of 0.65: the formula keeps four.
func TestMockUp(t *testing.T) {
	t.Parallel()
	p := Pressure{Level: Aggressive, Ratio: 30, Distance: 5}
	kept := 0
	for _, w := range []Weight{100, 100, 80, 80, 50, 50, 25} {
		if p.Keeps(w) {
			kept++
		}
	}
	if kept != 4 {
		t.Errorf("kept %d of 7, want 4", kept)
	}
	if got, want := p.String(), "0.65 = 0.50 (aggressive) + 30/100 (ratio) x 5/10 (sessions)"; got != want {
		t.Errorf("String() = %q, want %q", got, want)
	}
}

func TestKeepsIsMonotone(t *testing.T) {
	t.Parallel()
	f := func(w, ratio, distance uint8, level uint8) bool {
		p := Pressure{Level: Level(level % 3), Ratio: int(ratio), Distance: int(distance % 15)}
		x := Weight(w % 101)
		harder := []Pressure{p, p, p}
		harder[0].Ratio++
		harder[1].Distance++
		harder[2].Level = min(p.Level+1, Aggressive)
		for _, h := range harder {
			if h.Keeps(x) && !p.Keeps(x) {
				return false
			}
		}
		// margin and threshold tell the same story
		return (!p.Keeps(x) || p.Keeps(min(x+1, 100))) && (x >= 100 || p.Keeps(x) == (p.Margin(x) >= 0))
	}
	if err := quick.Check(f, nil); err != nil {
		t.Error(err)
	}
}

func TestPreview(t *testing.T) {
	t.Parallel()
	want := []string{"minimal 5 SSSSSS", "moderate 15 SSSSSS", "aggressive 30 SSSSS=", "aggressive 50 SSSS.."}
	for i, r := range Preview(80, Decay{}) {
		got := r.Level.String() + " " + Weight(r.Ratio).String()[2:] + " " + string(r.Fates[:])
		if strings.ReplaceAll(want[i], " 5 ", " 05 ") != got {
			t.Errorf("row %d = %q, want %q", i, got, want[i])
		}
	}
}

func TestScan(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want string }{
		{"to the end", "a ##keepit0.80## b\nc", "0.80[ b\nc]"},
		{"to the next", "##keepit0.80##a##keepit1.00##b", "0.80[a] 1.00[b]"},
		{"closed", "x ##keepit0.50##a##/keepit## b", "0.50[a]/"},
		{"closed twice", "##keepit0.50##a##/keepit## b ##/keepit##", "0.50[a]/"},
		{"any case", "##KeepIt0.50##a##/KEEPIT##", "0.50[a]/"},
		{"clamped", "##keepit1.20##a ##keepit12.00##b ##keepit99999999999999999999.99##c", "1.00![a ] 1.00![b ] 1.00![c]"},
		{"leading zeros", "##keepit00.30##a", "0.30[a]"},
		{"not two decimals", "##keepit0.8##a ##keepit0.800## ##keepit1## ##keepit.80##", ""},
		{"no closing", "##keepit0.80 a", ""},
		{"to a malformed one", "##keepit0.90##a ##keepit0.8##b", "0.90[a ]"},
		{"to the bare word", "##keepit0.90##a ##keepit b", "0.90[a ]"},
		{"more #", "###keepit0.80###a", "0.80[#a]"},
		{"empty", "##keepit0.80##", "0.80[]"},
		{"fence", "```\n##keepit0.80##a\n```\n##keepit0.50##b", "0.50[b]"},
		{"tilde fence", "~~~ go\n##keepit0.80##a\n```\n~~~~\n##keepit0.50##b", "0.50[b]"},
		{"fence inside a kept text", "##keepit0.80##a\n```\n##/keepit## ##keepit0.10##\n```\nb##/keepit##c", "0.80[a\n```\n##/keepit## ##keepit0.10##\n```\nb]/"},
		{"open fence", "##keepit0.80##a\n```\n##keepit0.10##b", "0.80[a\n```\n##keepit0.10##b]"},
		{"indented code is no fence", "    ```\n##keepit0.80##a", "0.80[a]"},
		{"inline code is no fence", "``` a ``` b\n##keepit0.80##a", "0.80[a]"},
		{"code of back-ticks is no fence", "``` ```\n##keepit0.80##a", "0.80[a]"},
		{"code that begins with back-ticks is no fence", "``` `` ```go\n##keepit0.80##a", "0.80[a]"},
		{"CRLF fence", "```\r\n##keepit0.10##b\r\n```\r\n##keepit0.80##a", "0.80[a]"},
		{"Korean", "결정: ##keepit0.90##포스트그레스##/keepit##로", "0.90[포스트그레스]/"},
		{"blank kept", "##keepit0.90## \t\n ##keepit0.10##", "0.90[ \t\n ] 0.10[]"},
	} {
		var got []string
		for _, m := range Scan(c.in) {
			s := m.Weight.String()
			if m.Clamped {
				s += "!"
			}
			s += "[" + m.Text + "]"
			if m.Closed {
				s += "/"
			}
			got = append(got, s)
		}
		if g := strings.Join(got, " "); g != c.want {
			t.Errorf("%s: Scan(%q) = %q, want %q", c.name, c.in, g, c.want)
		}
	}
}

func TestMalformed(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"##keepit0.8## x ##keepit0.80## y ##KEEPIT1##z": "##keepit0.8## ##KEEPIT1##",
		"##keepit0.80##":               "",
		"```\n##keepit0.8##\n```":      "",
		"##keepit0,8 x\n##/keepit##":   "##keepit0,8",
		"# keepit is the name, ##keep": "",
		"##keepit##keepit0.8##":        "##keepit## ##keepit0.8##",
		"###keepit0.8## x":             "##keepit0.8##",
		"##keepit0.80##keepit x":       "",
		"##keepit결정은우리가오래사용한포스트그레스":             "##keepit결정은우리가오래사용",
		"##keepit" + strings.Repeat("\x80", 40): "##keepit",
	} {
		if got := strings.Join(Malformed(in), " "); got != want {
			t.Errorf("Malformed(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestScanIsLinear(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"#", "##keepit", "##keepit9", "##keepit0.80##", "```\n", "##/keepit##", "##keepit0.80##\n```\n"} {
		s := strings.Repeat(unit, 4<<20/len(unit)) // with the square of its length this would never end
		Malformed(s)
		for _, m := range Scan(s) {
			if m.Start >= m.End || m.End > len(s) {
				t.Fatalf("Scan of 4 MB of %q: a mark from %d to %d", unit, m.Start, m.End)
			}
		}
	}
}

func TestLint(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"a ##keepit0.80## b ##/keepit## c": "",
		"##keepit0.8## x":                  `"##keepit0.8##" is not a marker: the weight needs two decimals; write ##keepit0.80##`,
		"##keepit0.805## x":                `"##keepit0.805##" is not a marker: the weight needs two decimals; write ##keepit0.80##`,
		"##keepit0,80## x":                 `"##keepit0,80##" is not a marker: the weight has a comma; write ##keepit0.80##`,
		"#keepit0.80# x":                   `"#keepit0.80#" is not a marker: it starts with one #; write ##keepit0.80##`,
		"##keepit0.80 x":                   `"##keepit0.80 x" is not a marker: its parts are separated; write ##keepit0.80##`,
		"##keepit0.80# x":                  `"##keepit0.80#" is not a marker: ## must follow the weight; write ##keepit0.80##`,
		"## keepit 0.80 ## x":              `"## keepit 0.80 ##" is not a marker: its parts are separated; write ##keepit0.80##`,
		"##keepit-0.50## x":                `"##keepit-0.50##" is not a marker: the weight has a sign; write ##keepit0.00##`,
		"##keepit## x":                     `"##keepit##" is not a marker: it has no weight; write ##keepit0.80##`,
		"##keepit1.20## x":                 `"##keepit1.20##" has a weight above 1.00 and counts as 1.00; weights go from 0.00 to 1.00: ##keepit1.00##`,
		"##/keepit## x":                    `"##/keepit##" closes no marker; begin the text with a marker: ##keepit0.80##`,
		"##keepit0.80##a#/keepit## x":      `"#/keepit##" is not a closing tag; write ##/keepit##`,
		"##keepit0.80## ":                  `"##keepit0.80##" has no text after it; write the text to pin after it`,
		"```\n##keepit0.80##a\n```":        `"##keepit0.80##" is inside a code fence and counts as plain text; write it outside the fence`,
		"```\n##keepit0.80##a\n":           `"##keepit0.80##" is inside a code fence and counts as plain text; close the code fence before it`,
		"# keepit is the name of a thing":  `"# keepit is the name of" is not a marker: it has no weight; write ##keepit0.80##`,
		"##keepit0.80##" + strings.Repeat("long text. ", 500):       `"##keepit0.80##" runs to the end of the message, 5500 bytes; end it with ##/keepit##`,
		"we keep it; keepit 0.80":                                   "",
		"##keepit0.80####keepit0.90##b\n##keepit0.70##c##/keepit##": `"##keepit0.80##" has no text after it; write the text to pin after it`,
		"##keepit00000000000000000000.80##a\n##keepit0.70##c":       "",
	} {
		var got []string
		for _, f := range Lint(in) {
			got = append(got, `"`+f.Text+`" `+f.Problem+"; "+f.Hint)
			if in[f.Start:f.End] != f.Text {
				t.Errorf("Lint(%q): offsets do not give %q", in, f.Text)
			}
		}
		if g := strings.Join(got, "\n"); g != want {
			t.Errorf("Lint(%.60q) =\n%s\nwant\n%s", in, g, want)
		}
	}
}

// checkScan holds for every text.
func checkScan(t *testing.T, text string) {
	t.Helper()
	at := 0
	ms := Scan(text)
	for _, m := range ms {
		if m.Start < at || m.TextStart <= m.Start || m.TextEnd < m.TextStart || m.End < m.TextEnd || m.End > len(text) {
			t.Fatalf("Scan(%q): bad offsets %+v", text, m)
		}
		if m.Text != text[m.TextStart:m.TextEnd] || !hasFold(text[m.Start:], opening) || m.Weight < 0 || m.Weight > 100 {
			t.Fatalf("Scan(%q): bad marker %+v", text, m)
		}
		if m.Closed != (m.End == m.TextEnd+len(closing) && hasFold(text[m.TextEnd:], closing)) {
			t.Fatalf("Scan(%q): bad end %+v", text, m)
		}
		at = m.End
	}
	// what lies behind the line of the last end changes nothing
	if n := len(ms); n > 0 {
		cut := len(text)
		if k := strings.IndexByte(text[ms[n-1].End:], '\n'); k >= 0 {
			cut = ms[n-1].End + k
		}
		again := Scan(text[:cut])
		if len(again) != n || again[n-1] != ms[n-1] {
			t.Fatalf("Scan(%q) is not stable: %+v then %+v", text, ms, again)
		}
	}
	for _, f := range Lint(text) {
		if f.Start < 0 || f.End > len(text) || f.Start >= f.End || f.Text != text[f.Start:f.End] || f.Problem == "" || f.Hint == "" {
			t.Fatalf("Lint(%q): bad finding %+v", text, f)
		}
	}
}

func TestScanProperties(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewSource(1))
	bits := []string{"##keepit0.80##", "##/keepit##", "```\n", "\n```", "~~~", "#", "##", "keepit", "1.20##", "\n", "text ", "한글", "\xff", "##KEEPIT1.00##", " ", "##keepit0.8##"}
	for range 5000 {
		var b strings.Builder
		for range r.Intn(12) {
			b.WriteString(bits[r.Intn(len(bits))])
		}
		checkScan(t, b.String())
	}
}

func FuzzScan(f *testing.F) {
	for _, s := range []string{"", "##keepit0.80##a##/keepit##b", "```\n##keepit0.80##", "##keepit1.20##\n~~~\n##/keepit##", "##keepit0,8##"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { checkScan(t, s) })
}

func BenchmarkScan(b *testing.B) {
	s := strings.Repeat("An ordinary line of a message, # with a sign or two.\n##keepit0.80##kept##/keepit##\n", 1000)
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		Scan(s)
	}
}
