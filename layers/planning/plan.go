// Package planning decides what is compressed, and how, before it begins. Nothing in it reads or writes.
//
// [Resolve] turns settings and the sizes of a session into the [Plan] of a compression, and says which markers survive it.
//
// [Decide] plans how sessions are summarised with age: after some days the summary of their week replaces them, later that of
// their month. Superseded versions are hidden. It gets the known state of the sessions of a project and returns the actions
// to take. Finished actions are recognised by their results, so a second call returns nothing. Weeks are ISO weeks
// and months are calendar months, in UTC, on every machine. A session belongs to the week and month of its last
// message. Its age counts from that message or from its latest use, so a used session is recent again. A summary
// covers its whole week or month, and is made once, after the end of that period.
package planning

import (
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/version"
	"github.com/memvcs/mem/lineage"
)

// ErrSettings reports invalid settings; the message contains the reason and valid settings.
var ErrSettings = errors.New("compression settings")

// ErrEmpty reports that there is nothing to compress.
var ErrEmpty = errors.New("no conversation to compress")

// Extract names the engine without a model, that of package compress, and its version.
const Extract = "extract/30"

// IsExtract reports whether an ID is that of the engine without a model, of any version.
func IsExtract(id string) bool { return strings.HasPrefix(id, "extract/") }

// KeepitMode sets how a compression treats markers.
type KeepitMode string

// The modes. The empty mode is Decay.
const (
	Decay       KeepitMode = "decay"
	PreserveAll KeepitMode = "preserve-all"
	Ignore      KeepitMode = "ignore"
)

// A Tier compresses the messages up to End per cent of a session, counted from the oldest.
type Tier struct {
	End   int // 1 to 100; tiers ascend and the last ends at 100
	Ratio int
	Level keepit.Level
}

// ParseTier reads END:RATIO:LEVEL, such as "25:10:moderate".
func ParseTier(s string) (Tier, error) {
	p := strings.Split(s, ":")
	bad := func(what string) (Tier, error) {
		return Tier{}, fmt.Errorf("%w: tier %q: %s; want END:RATIO:LEVEL such as 25:10:moderate", ErrSettings, s, what)
	}
	if len(p) != 3 {
		return bad(fmt.Sprintf("%d parts", len(p)))
	}
	end, err := strconv.Atoi(strings.TrimSuffix(p[0], "%"))
	if err != nil || end < 1 || end > 100 {
		return bad("the end is not a number from 1 to 100")
	}
	ratio, err := strconv.Atoi(strings.TrimSuffix(p[1], "x"))
	if err != nil || ratio < 1 || ratio > maxRatio {
		return bad("the ratio is not a number of 1 or more")
	}
	level, err := keepit.ParseLevel(p[2])
	if err != nil {
		return bad(err.Error())
	}
	return Tier{end, ratio, level}, nil
}

// String returns the tier in the form that [ParseTier] reads.
func (t Tier) String() string { return fmt.Sprintf("%d:%d:%s", t.End, t.Ratio, t.Level) }

// maxRatio is far above useful ratios and cannot overflow.
const maxRatio = 1_000_000_000

// Presets are the names of the tables of tiers, mildest first.
var Presets = [...]string{"gentle", "standard", "aggressive"}

// Preset returns the tiers of a preset.
func Preset(name string) ([]Tier, error) {
	const light, mod, agg = keepit.Minimal, keepit.Moderate, keepit.Aggressive
	switch name {
	case "gentle":
		return []Tier{{25, 10, mod}, {50, 7, mod}, {75, 5, light}, {90, 4, light}, {100, 2, light}}, nil
	case "standard":
		return []Tier{{25, 25, agg}, {50, 15, agg}, {75, 10, mod}, {90, 5, mod}, {100, 3, light}}, nil
	case "aggressive":
		return []Tier{{25, 50, agg}, {50, 35, agg}, {75, 20, agg}, {90, 10, mod}, {100, 5, light}}, nil
	}
	return nil, fmt.Errorf("%w: preset %q is unknown; there are %s", ErrSettings, name, strings.Join(Presets[:], ", "))
}

// Settings are the options of a compression. One of Ratio, Tokens, Preset and Tiers determines the size. Tokens may
// also be given with Preset or Tiers; then it scales their budgets.
type Settings struct {
	Ratio    int           // uniform: tokens of the original for one of the output
	Tokens   int           // greatest number of tokens of the output
	Preset   string        // tiered, by a table
	Tiers    []Tier        // tiered, as given
	Level    *keepit.Level // of a uniform compression; nil: the one that goes with the ratio
	Skip     int           // messages at the start that are left out altogether, with their marks
	Since    int           // number of the last message that is left out because it was compressed before
	Keepit   KeepitMode
	Distance int          // how many sessions ago, 1 = the newest; 0 counts as 1
	Decay    keepit.Decay // zero: the default constants
	Counter  tokens.Counter
	Engine   version.Summarizer // nil: Extract
	Model    string             // that was asked for, if the engine uses none: it changes nothing and is recorded
}

// Tiered reports whether the settings name tiers.
func (s Settings) Tiered() bool { return s.Preset != "" || len(s.Tiers) > 0 }

// A Message is one message of the conversation, as tiers and budgets count it: records that share a message id are one.
type Message struct {
	First, Last int // numbers of its records
	Raw         int // plain tokens of what a model would read of it
}

// Stats are the sizes of a session that a plan needs.
type Stats struct {
	Messages []Message // in order
	Typed    []int     // records with text that the user typed, ascending; they need not be among the messages
}

// After returns the stats of the records after n. A message with records on both sides is divided in proportion to its
// records.
func (s Stats) After(n int) Stats {
	out := Stats{Typed: s.Typed}
	for _, m := range s.Messages {
		if m.Last <= n {
			continue
		}
		if m.First <= n {
			m.Raw = m.Raw * (m.Last - n) / (m.Last - m.First + 1)
			m.First = n + 1
		}
		out.Messages = append(out.Messages, m)
	}
	return out
}

// Raw returns the number of plain tokens of the conversation.
func (s Stats) Raw() int {
	n := 0
	for _, m := range s.Messages {
		n += m.Raw
	}
	return n
}

// Span is text between two byte offsets of what the user typed in a message: the text of a mark, without its tags.
type Span struct {
	Message int           `json:"message"`
	Start   int           `json:"start"`
	End     int           `json:"end"`
	Weight  keepit.Weight `json:"weight"`
}

// Part is a tier of a plan: a run of messages and the tokens it gets, kept texts included.
type Part struct {
	From   int          `json:"from"`
	To     int          `json:"to"`
	Budget int          `json:"budget"`
	Level  keepit.Level `json:"level"`
}

// A Plan is a compression with all decisions made. It is the parameters of the recipe: equal plans on equal input give
// the same bytes.
type Plan struct {
	Engine     string `json:"engine"`
	Tokenizer  string `json:"tokenizer"`
	Budget     int    `json:"budget"` // tokens of the whole output, never exceeded
	Skip       int    `json:"skip"`
	Since      int    `json:"since,omitempty"` // messages up to this one are left out
	Tiers      []Part `json:"tiers"`
	Kept       []Span `json:"kept"`
	Summarised []Span `json:"summarised"` // marks that did not survive: they count for more than other text

	Without [][2]int `json:"without,omitempty"` // messages whose calls of tools, with what they returned, are left out
}

// Skips reports whether message n is one of those that [Settings.Skip] omits.
func (p Plan) Skips(n int) bool {
	return p.Skip > 0 && n > p.Since && len(p.Tiers) > 0 && n < p.Tiers[0].From
}

// Step is the name of the step in recipes, and StepVersion its version.
const (
	Step        = "compress"
	StepVersion = 1
)

// Recipe returns the recipe of the plan.
func (p Plan) Recipe() (lineage.Recipe, error) { return lineage.NewRecipe(Step, StepVersion, p) }

// Resolve makes all decisions: the bounds and budgets of tiers, and which marks are kept. It returns a fate for each
// mark, in order.
func Resolve(s Settings, st Stats, marks []Mark) (Plan, []Fate, error) {
	if err := s.valid(); err != nil {
		return Plan{}, nil, err
	}
	st = st.After(s.Since)
	if len(st.Messages) == 0 {
		return Plan{}, nil, fmt.Errorf("%w: there are no messages", ErrEmpty)
	}
	if s.Skip >= len(st.Messages) {
		return Plan{}, nil, fmt.Errorf("%w: %d messages, %d skipped", ErrEmpty, len(st.Messages), s.Skip)
	}
	p := Plan{Engine: Extract, Tokenizer: s.Counter.ID(), Skip: s.Skip, Since: s.Since, Kept: []Span{},
		Summarised: []Span{}}
	if s.Engine != nil {
		p.Engine = s.Engine.ID()
	}
	msgs := st.Messages[s.Skip:]
	tiers, err := s.tiers(msgs)
	if err != nil {
		return Plan{}, nil, err
	}
	p.Tiers = parts(tiers, msgs, s.first(st), s.Counter)
	for i := range p.Tiers {
		p.Budget += p.Tiers[i].Budget
	}
	if s.Tokens > 0 {
		p.scale(s.Tokens)
	}
	if p.Budget < 1 {
		p.scale(1)
	}
	fates := s.fates(tiers, p.Tiers, marks)
	for _, f := range fates {
		switch {
		case s.Keepit == Ignore, f.Skipped:
		case f.Kept:
			p.Kept = append(p.Kept, f.Mark.Span())
		default:
			p.Summarised = append(p.Summarised, f.Mark.Span())
		}
	}
	return p, fates, nil
}

func (s Settings) valid() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w: "+format, append([]any{ErrSettings}, args...)...)
	}
	ways := 0
	for _, set := range []bool{s.Ratio != 0, s.Preset != "", len(s.Tiers) > 0} {
		if set {
			ways++
		}
	}
	switch {
	case ways > 1:
		return bad("give one of ratio, preset and tiers")
	case ways == 0 && s.Tokens == 0:
		return bad("give a ratio, a number of tokens, a preset or tiers")
	case s.Ratio != 0 && s.Tokens != 0:
		return bad("give a ratio or a number of tokens, not both")
	case s.Ratio < 0 || s.Ratio > maxRatio:
		return bad("ratio %d: want 1 or more, such as 10", s.Ratio)
	case s.Tokens < 0:
		return bad("tokens %d: want 1 or more", s.Tokens)
	case s.Skip < 0:
		return bad("skip %d: want 0 or more", s.Skip)
	case s.Since < 0:
		return bad("since %d: want 0 or more", s.Since)
	case s.Distance < 0:
		return bad("distance %d: want 1 or more", s.Distance)
	case s.Level != nil && s.Tiered():
		return bad("the level of a tiered compression is that of its tiers")
	}
	switch s.Keepit {
	case "", Decay, PreserveAll, Ignore:
	default:
		return bad("keepit %q: want decay, preserve-all or ignore", s.Keepit)
	}
	return s.Decay.Valid()
}

// tiers returns the tiers of the settings; a uniform compression is one tier.
func (s Settings) tiers(msgs []Message) ([]Tier, error) {
	switch {
	case s.Preset != "":
		return Preset(s.Preset)
	case len(s.Tiers) > 0:
		end := 0
		for _, t := range s.Tiers {
			if t.End <= end || t.Ratio < 1 {
				return nil, fmt.Errorf("%w: tier %s: ends must ascend and ratios be 1 or more", ErrSettings, t)
			}
			end = t.End
		}
		if end != 100 {
			return nil, fmt.Errorf("%w: the last tier ends at %d%%: it must end at 100", ErrSettings, end)
		}
		return s.Tiers, nil
	}
	t := Tier{End: 100, Ratio: s.Ratio}
	if t.Ratio == 0 {
		raw := s.Counter.Scale(Stats{Messages: msgs}.Raw())
		t.Ratio = max(1, (raw+s.Tokens-1)/s.Tokens)
	}
	t.Level = keepit.LevelFor(t.Ratio)
	if s.Level != nil {
		t.Level = *s.Level
	}
	return []Tier{t}, nil
}

// first returns the first record to compress. Text that was queued right before the first message that is not omitted
// is included.
func (s Settings) first(st Stats) int {
	after, first := s.Since, st.Messages[s.Skip].First
	if s.Skip > 0 {
		after = st.Messages[s.Skip-1].Last
	}
	for _, n := range st.Typed {
		if after < n && n < first {
			return n
		}
	}
	return first
}

// parts divides messages from a first record on into tiers. It returns a part for each tier, even one without messages
// (From > To, no budget).
func parts(tiers []Tier, msgs []Message, first int, c tokens.Counter) []Part {
	out := make([]Part, 0, len(tiers))
	at, prev := 0, first-1
	for _, t := range tiers {
		end := len(msgs) * t.End / 100
		if t.End == 100 {
			end = len(msgs)
		}
		p := Part{From: prev + 1, To: prev, Level: t.Level}
		raw := 0
		for ; at < end; at++ {
			raw += msgs[at].Raw
			p.To = max(p.To, msgs[at].Last)
		}
		p.Budget = c.Scale(raw) / t.Ratio
		prev = p.To
		out = append(out, p)
	}
	return out
}

// scale makes the budgets of the tiers add up to total, in their proportions.
func (p *Plan) scale(total int) {
	sum := int64(p.Budget)
	if sum == 0 {
		p.Tiers[len(p.Tiers)-1].Budget, p.Budget = total, total
		return
	}
	left, before := total, int64(0)
	for i := range p.Tiers {
		t := &p.Tiers[i]
		before += int64(t.Budget)
		hi, lo := bits.Mul64(uint64(total), uint64(before)) // before is at most sum: the quotient does not overflow
		n, _ := bits.Div64(hi, lo, uint64(sum))
		t.Budget = int(n) - (total - left)
		left -= t.Budget
	}
	p.Budget = total
}
