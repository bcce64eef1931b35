// Package facts contains the established facts of sessions: L2. A [Fact] is one sentence with its evidence, quotes
// of numbered messages. An [Exchange] is a request with its result and the facts in it.
//
// A model or a person writes facts, never a rule, and [Check] verifies them: it searches every quote in the message
// that it names, and every name, number, path, identifier and negation of the fact in its quotes. If all are found
// the fact is "verified"; if a check is not possible it is "inferred"; a wrong one is "rejected". The trust of a
// fact follows from the author of its evidence. This is why an echo, text that mem itself or a fork inserted, never
// counts as typed.
//
// Facts are never edited in place. A [Judgement] is a separate statement that a fact is superseded, refuted,
// resolved or removed, and a later one can reverse it. [Fold] makes a [Set] of all statements; it is a pure function
// of them.
package facts

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/memvcs/mem/objects"
)

// A Kind says what sort of thing a fact tells.
type Kind string

// The kinds of facts.
const (
	Request    Kind = "request"    // what the user asked for
	Action     Kind = "action"     // what was done
	Decision   Kind = "decision"   // what was settled, and why
	Issue      Kind = "issue"      // what is or was wrong
	Solution   Kind = "solution"   // what put it right
	Preference Kind = "preference" // how the user wants things
)

// Kinds returns all kinds.
func Kinds() []Kind { return []Kind{Request, Action, Decision, Issue, Solution, Preference} }

// ParseKind reads a kind.
func ParseKind(s string) (Kind, error) {
	if k := Kind(s); slices.Contains(Kinds(), k) {
		return k, nil
	}
	return "", fmt.Errorf("%q is not a kind of fact: want request, action, decision, issue, solution or preference", s)
}

// A Verdict is what [Check] found out about a fact.
type Verdict string

// The verdicts.
const (
	Verified Verdict = "verified" // the quotes are there and say it
	Inferred Verdict = "inferred" // the quotes are there; whether they say it, code cannot tell
	Rejected Verdict = "rejected" // a quote is not there, or the fact says something else than the quotes
)

// A Trust says by whom a thing was said, the least trusted first. What rests on several things has the least of
// their trusts.
type Trust int

// The trusts.
const (
	Tool      Trust = iota // only by tools, files, the web, or an echo
	Script                 // typed by a script in a headless run: it may hold anything
	Assistant              // by the model
	User                   // typed by the user
)

func (t Trust) String() string {
	return [...]string{"tool", "script", "assistant", "user"}[min(max(t, 0), User)]
}

// ParseTrust reads what String writes.
func ParseTrust(s string) (Trust, error) {
	for _, t := range []Trust{Tool, Script, Assistant, User} {
		if t.String() == s {
			return t, nil
		}
	}
	return Tool, fmt.Errorf("%q is not a trust: want tool, script, assistant or user", s)
}

// MarshalText writes a trust as String does.
func (t Trust) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (t *Trust) UnmarshalText(b []byte) (err error) {
	*t, err = ParseTrust(string(b))
	return err
}

// Evidence is a quote of a message of the fact's session.
type Evidence struct {
	Message int    `json:"message"`
	Quote   string `json:"quote"`
}

// A Fact is one sentence that stands on its evidence. In a record the fields that follow from others are left out: ID,
// Exchange, Session, Device and what became of it.
type Fact struct {
	ID       string     `json:"id,omitempty"` // "f:" and the start of its key
	Exchange string     `json:"exchange,omitempty"`
	Session  string     `json:"session,omitempty"` // "" if it was stated outside of any
	Kind     Kind       `json:"kind"`
	Text     string     `json:"text"`
	Verdict  Verdict    `json:"verdict"`
	Reason   string     `json:"reason,omitempty"` // why it is not verified
	Trust    Trust      `json:"trust"`
	Evidence []Evidence `json:"evidence,omitempty"`
	Keywords []string   `json:"keywords,omitempty"`
	Files    []string   `json:"files,omitempty"`
	Time     time.Time  `json:"time,omitzero"`  // of the newest message of its evidence
	From     string     `json:"from,omitempty"` // the memory tool whose store had it, if it was imported

	SupersededBy string `json:"superseded_by,omitempty"` // the ID of a fact that has not been removed
	Refuted      bool   `json:"refuted,omitempty"`
	RefutedBy    string `json:"refuted_by,omitempty"`
	Resolved     bool   `json:"resolved,omitempty"` // of an issue
	ResolvedBy   string `json:"resolved_by,omitempty"`
	Resolution   string `json:"resolution,omitempty"` // how: the words of the solution, or the reason that somebody gave
	Confirmed    bool   `json:"confirmed,omitempty"`  // by the user, which makes the trust theirs
	Removed      bool   `json:"removed,omitempty"`
	Revoked      string `json:"revoked,omitempty"` // why it is hidden: its evidence comes from a source that was revoked
	Device       string `json:"device,omitempty"`  // that stated it first

	Extracted time.Time `json:"extracted_at,omitzero"` // when it was first stated

	key objects.Hash
}

// Key names what the fact says: the same fact, stated twice, has the same key.
func (f Fact) Key() objects.Hash {
	if !f.key.IsZero() {
		return f.key
	}
	h := objects.NewHasher()
	fmt.Fprintf(h, "mem fact 1\n%s\n%s\n%d\n%s\n", f.Session, f.Kind, len(f.Text), f.Text) // never fails
	for _, e := range f.Evidence {
		fmt.Fprintf(h, "%d %d\n%s\n", e.Message, len(e.Quote), e.Quote)
	}
	return h.Sum()
}

// Stands reports whether the fact still holds.
func (f Fact) Stands() bool {
	return f.Verdict != Rejected && !f.Removed && !f.Refuted && f.SupersededBy == "" && f.Revoked == ""
}

// Open reports whether the fact is an issue that nothing has resolved yet.
func (f Fact) Open() bool { return f.Kind == Issue && f.Stands() && !f.Resolved }

// idLength is how many digits of a key an ID has, if no other begins with them.
const idLength = 8

// An Exchange is a request with what came of it: messages From to To of a session.
type Exchange struct {
	ID         string       `json:"id,omitempty"` // "e:" and the start of its key
	Session    string       `json:"session"`
	Generation int          `json:"generation"`
	Original   objects.Hash `json:"original,omitzero"` // the transcript that its facts were checked against
	From       int          `json:"from"`
	To         int          `json:"to"`
	L1Range    [2]int       `json:"l1_range"` // lines of L1, counted from 1
	Summary    string       `json:"summary,omitempty"`
	Topic      string       `json:"topic,omitempty"`
	Keywords   []string     `json:"keywords,omitempty"`
	Files      []string     `json:"files,omitempty"`
	Time       time.Time    `json:"time,omitzero"` // of its last message
	Facts      []Fact       `json:"facts"`
	Device     string       `json:"device,omitempty"`
	Revoked    string       `json:"revoked,omitempty"` // why what it says besides its facts is hidden

	key objects.Hash
}

// Key names the exchange: the same one, saved twice, has the same key.
func (x Exchange) Key() objects.Hash {
	if !x.key.IsZero() {
		return x.key
	}
	return objects.Sum(fmt.Appendf(nil, "mem exchange 1\n%s\n%d %d %d\n%s\n%s\n", x.Session, x.Generation, x.From, x.To,
		x.Topic, x.Summary))
}

// Bare returns the exchange in the form that a record stores.
func (x Exchange) Bare() Exchange {
	x.ID, x.Device, x.Revoked, x.key = "", "", "", objects.Hash{}
	x.Facts = slices.Clone(x.Facts)
	for i := range x.Facts {
		f := &x.Facts[i]
		*f = Fact{Kind: f.Kind, Text: f.Text, Verdict: f.Verdict, Reason: f.Reason, Trust: f.Trust,
			Evidence: f.Evidence,
			Keywords: f.Keywords, Files: f.Files, Time: f.Time, From: f.From}
	}
	return x
}

// Distilled says that all there was to say of a session up to a message has been said.
type Distilled struct {
	Session    string         `json:"session"`
	Generation int            `json:"generation"`
	Through    int            `json:"through"`
	Engine     string         `json:"engine,omitempty"`    // that wrote it; "" is whoever used the command
	Witnesses  []objects.Hash `json:"witnesses,omitempty"` // what a model was asked and answered
}

// What a judgement can say of a fact.
const (
	Supersedes = "superseded"
	Refutes    = "refuted"
	Resolves   = "resolved"
	Removes    = "removed"
	Describes  = "described" // other keywords and files
	Confirms   = "confirmed" // the user read it and says that it is right
)

// A Judgement says what became of a fact. Of those that say the same thing of the same fact the last one holds.
type Judgement struct {
	Fact   objects.Hash `json:"fact"` // its key
	Says   string       `json:"says"`
	Value  bool         `json:"value"`
	By     objects.Hash `json:"by,omitzero"` // the fact that did it
	Reason string       `json:"reason,omitempty"`

	Keywords []string `json:"keywords,omitempty"` // if it describes
	Files    []string `json:"files,omitempty"`
}

// The kinds of the records that [Fold] knows, with [Exchange], [Distilled] and [Judgement] as bodies.
const (
	KindExchange  = "exchange"
	KindDistilled = "distilled"
	KindJudgement = "judgement"
)

// A Record is a statement about facts.
type Record struct {
	Kind   string
	Device string
	Body   json.RawMessage
	Time   time.Time
}

// A Set is all that is known: every fact that was ever stated, with what became of it.
type Set struct {
	Exchanges []Exchange     // in the order of their first statement
	Through   map[string]int // the last message of each session that was distilled
	Witnesses []objects.Hash // what models were asked and answered, sorted

	where      map[string][2]int // of facts in Exchanges, by ID
	generation map[string]int    // that Through speaks of
}

// All yields every fact, whatever became of it.
func (s *Set) All() iter.Seq[*Fact] {
	return func(yield func(*Fact) bool) {
		for i := range s.Exchanges {
			for k := range s.Exchanges[i].Facts {
				if !yield(&s.Exchanges[i].Facts[k]) {
					return
				}
			}
		}
	}
}

// Live returns the facts that stand.
func (s *Set) Live() []Fact {
	var out []Fact
	for f := range s.All() {
		if f.Stands() {
			out = append(out, *f)
		}
	}
	return out
}

// Fact returns the fact with that whole ID.
func (s *Set) Fact(id string) (Fact, bool) {
	at, ok := s.where[id]
	if !ok {
		return Fact{}, false
	}
	return s.Exchanges[at[0]].Facts[at[1]], true
}

// Find returns the facts whose ID begins with prefix, which may lack its "f:".
func (s *Set) Find(prefix string) []Fact {
	prefix = "f:" + strings.ToLower(strings.TrimPrefix(prefix, "f:"))
	var out []Fact
	for f := range s.All() {
		if strings.HasPrefix("f:"+f.Key().String(), prefix) {
			out = append(out, *f)
		}
	}
	return out
}

// ThroughOf returns the last message of a session that was distilled in that generation of it, 0 if none was.
func (s *Set) ThroughOf(session string, generation int) int {
	if s.generation[session] != generation {
		return 0
	}
	return s.Through[session]
}

// Of returns the exchanges of a session that hold facts that stand, or none at all, in the order of their messages.
func (s *Set) Of(session string) []Exchange {
	var out []Exchange
	for _, x := range s.Exchanges {
		if x.Session != session {
			continue
		}
		had := len(x.Facts)
		x.Facts = slices.DeleteFunc(slices.Clone(x.Facts), func(f Fact) bool { return !f.Stands() })
		if had == 0 || len(x.Facts) > 0 {
			out = append(out, x)
		}
	}
	slices.SortStableFunc(out, func(a, b Exchange) int { return a.From - b.From })
	return out
}

// Name returns the ID that the fact has unless another one's begins in the same way.
func (f Fact) Name() string { return "f:" + f.Key().String()[:idLength] }

// Name returns the ID that the exchange has unless another one's begins in the same way.
func (x Exchange) Name() string { return "e:" + x.Key().String()[:idLength] }
