// Package facts contains the established facts of sessions: L2. A [Fact] is one sentence with its evidence, quotes
// of numbered messages. An [Exchange] is a request with its result and the facts in it.
//
// A model or a person writes facts, never a rule. [Check] does what code can: it searches each quote in the message
// that it names and finds out who said it. Such a fact is "quoted"; what code does not find, such as a name or a number
// of the fact, is a note. Whether a quote says what the fact says is a question of meaning, so a reader answers it,
// with the surroundings of the quote ([Answer]). A yes makes the fact "verified", a no removes it, and both are
// records with who was asked. The trust of a fact follows from the speaker of its evidence. Therefore an echo, text
// that mem itself or a fork inserted, never counts as typed.
//
// Facts are never edited in place. A [Judgement] is a separate statement that a fact is superseded, refuted,
// resolved or removed, and a later one can reverse it. [Fold] computes a [Set] from all records; it is a pure
// function of them.
package facts

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/objects"
)

// A Kind is a kind of fact.
type Kind string

// The kinds of facts.
const (
	Request    Kind = "request"    // what the user asked for
	Action     Kind = "action"     // what was done
	Decision   Kind = "decision"   // what was decided, and why
	Issue      Kind = "issue"      // what is or was wrong
	Solution   Kind = "solution"   // what fixed it
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

// A Verdict says how far a fact was checked.
type Verdict string

// The verdicts.
const (
	Verified Verdict = "verified" // a reader of the quotes and their surroundings says that they support the fact
	Quoted   Verdict = "quoted"   // the quotes exist; nobody was asked whether they support the fact
	Stated   Verdict = "stated"   // it has no quotes, and nobody has confirmed it
	Rejected Verdict = "rejected" // a quote does not exist
)

// A Trust says who stated a thing, the least trusted first. Something with several sources has the lowest of their
// trusts.
type Trust int

// The trusts.
const (
	Tool      Trust = iota // only by tools, files, the web, or an echo
	Script                 // typed by a script in a headless run, which may insert any text
	Assistant              // by the model
	User                   // typed by the user
)

func (t Trust) String() string {
	return [...]string{"tool", "script", "assistant", "user"}[min(max(t, 0), User)]
}

// MarshalText returns the same text as String.
func (t Trust) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText parses the result of MarshalText.
func (t *Trust) UnmarshalText(b []byte) error {
	for _, known := range []Trust{Tool, Script, Assistant, User} {
		if known.String() == string(b) {
			*t = known
			return nil
		}
	}
	return fmt.Errorf("%q is not a trust: want tool, script, assistant or user", b)
}

// Evidence is a quote of a message of the fact's session.
type Evidence struct {
	Message int    `json:"message" form:"required,min=1" about:"number of the message"`
	Quote   string `json:"quote" form:"required,max=4000" about:"the exact words of that message"`
	By      string `json:"by,omitempty" form:"-"` // its speaker, as [Check] found it
}

// A Fact is one sentence with its evidence. Records omit the fields that Fold computes: ID, Exchange, Session, Device
// and those about later judgements.
type Fact struct {
	ID       string     `json:"id,omitempty"` // "f:" and the start of its key
	Exchange string     `json:"exchange,omitempty"`
	Session  string     `json:"sessionId,omitempty"` // "" if it was stated outside a session
	Kind     Kind       `json:"kind"`
	Text     string     `json:"text"`
	Reason   string     `json:"reason,omitempty"` // of a decision
	Verdict  Verdict    `json:"verdict"`
	Notes    []string   `json:"notes,omitempty"` // what [Check] did not find
	Trust    Trust      `json:"trust"`
	Evidence []Evidence `json:"evidence,omitempty"`
	Keywords []string   `json:"keywords,omitempty"`
	Files    []string   `json:"files,omitempty"`
	Time     time.Time  `json:"time,omitzero"`  // of the newest message of its evidence
	From     string     `json:"from,omitempty"` // the memory tool whose store had it, if it was imported

	SupersededBy string    `json:"supersededBy,omitempty"` // the ID of a fact that has not been removed
	Refuted      bool      `json:"refuted,omitempty"`
	RefutedBy    string    `json:"refutedBy,omitempty"`
	Resolved     bool      `json:"resolved,omitempty"` // of an issue
	ResolvedBy   string    `json:"resolvedBy,omitempty"`
	Resolution   string    `json:"resolution,omitempty"` // text of the solution, or the stated reason
	Confirmed    bool      `json:"confirmed,omitempty"`  // by the user: the trust is User
	VerifiedBy   string    `json:"verifiedBy,omitempty"` // who was asked
	VerifiedAt   time.Time `json:"verifiedAt,omitzero"`
	Removed      bool      `json:"removed,omitempty"`
	Revoked      string    `json:"revoked,omitempty"`  // why it is hidden: its evidence comes from a source that was revoked
	Device       string    `json:"deviceId,omitempty"` // the first that stated it

	Extracted time.Time `json:"extractedAt,omitzero"` // when it was first stated

	key objects.Hash
}

// Key returns the hash of session, kind, text, reason and evidence: the same fact, stated twice, has the same key.
func (f Fact) Key() objects.Hash {
	if !f.key.IsZero() {
		return f.key
	}
	h := objects.NewHasher()
	fmt.Fprintf(h, "mem fact 1\n%s\n%s\n%d\n%s\n", f.Session, f.Kind, len(f.Text), f.Text) // never fails
	if f.Reason != "" {
		fmt.Fprintf(h, "because %d\n%s\n", len(f.Reason), f.Reason)
	}
	for _, e := range f.Evidence {
		fmt.Fprintf(h, "%d %d\n%s\n", e.Message, len(e.Quote), e.Quote)
	}
	return h.Sum()
}

// Live reports whether the fact is valid: not rejected, removed, refuted, superseded or revoked.
func (f Fact) Live() bool {
	return f.Verdict != Rejected && !f.Removed && !f.Refuted && f.SupersededBy == "" && f.Revoked == ""
}

// Current reports whether the fact tells how things are: it is valid, and no issue that was resolved.
func (f Fact) Current() bool { return f.Live() && !f.Resolved }

// Open reports whether the fact is an unresolved issue.
func (f Fact) Open() bool { return f.Kind == Issue && f.Current() }

// idLength is the shortest length of an ID in digits of the key.
const idLength = 8

// An Exchange is a request with its result: the messages From to To of a session.
type Exchange struct {
	ID         string       `json:"id,omitempty"` // "e:" and the start of its key
	Session    string       `json:"session"`
	Generation int          `json:"generation"`
	Original   objects.Hash `json:"original,omitzero"` // the transcript that its facts were checked against
	From       int          `json:"from"`
	To         int          `json:"to"`
	L1Range    [2]int       `json:"l1_range"` // lines of L1, counted from 1
	Summary    string       `json:"summary,omitempty"`
	Details    string       `json:"details,omitempty"`
	Topic      string       `json:"topic,omitempty"`
	Keywords   []string     `json:"keywords,omitempty"`
	Files      []string     `json:"files,omitempty"`
	Time       time.Time    `json:"ts,omitzero"` // of its last message
	Facts      []Fact       `json:"facts"`
	Verdict    Verdict      `json:"verdict,omitempty"` // of summary and details: stated or verified; "" without a summary
	VerifiedBy string       `json:"verifiedBy,omitempty"`
	VerifiedAt time.Time    `json:"verifiedAt,omitzero"`
	Device     string       `json:"deviceId,omitempty"`
	Revoked    string       `json:"revoked,omitempty"` // why its summary, topic, keywords and files are hidden

	key     objects.Hash
	written *[2]string // summary and details as its record has them, if a judgement changed them
}

// Key returns the hash of the messages, topic, summary and details: the same exchange, saved twice, has the same key.
func (x Exchange) Key() objects.Hash {
	if !x.key.IsZero() {
		return x.key
	}
	b := fmt.Appendf(nil, "mem exchange 1\n%s\n%d %d %d\n%s\n%s\n", x.Session, x.Generation, x.From, x.To, x.Topic, x.Summary)
	if x.Details != "" {
		b = append(b, x.Details...)
	}
	return objects.Sum(b)
}

// Live reports whether the exchange has a live fact, or had no facts.
func (x Exchange) Live() bool { return len(x.Facts) == 0 || slices.ContainsFunc(x.Facts, Fact.Live) }

// Bare returns the exchange as records store it, without computed fields.
func (x Exchange) Bare() Exchange {
	x.ID, x.Device, x.Revoked, x.key = "", "", "", objects.Hash{}
	x.Verdict, x.VerifiedBy, x.VerifiedAt = "", "", time.Time{}
	if x.written != nil {
		x.Summary, x.Details, x.written = x.written[0], x.written[1], nil
	}
	x.Facts = slices.Clone(x.Facts)
	for i := range x.Facts {
		f := &x.Facts[i]
		*f = Fact{Kind: f.Kind, Text: f.Text, Reason: f.Reason, Verdict: f.Verdict, Notes: f.Notes, Trust: f.Trust,
			Evidence: f.Evidence, Keywords: f.Keywords, Files: f.Files, Time: f.Time, From: f.From}
	}
	return x
}

// Distilled is the body of a record: a session was distilled up to and including message Through.
type Distilled struct {
	Session    string         `json:"session"`
	Generation int            `json:"generation"`
	Through    int            `json:"through"`
	Engine     string         `json:"engine,omitempty"`    // author of the facts; "" if a person or Claude ran the command
	Witnesses  []objects.Hash `json:"witnesses,omitempty"` // requests to a model and its answers
}

// The values of Judgement.Says.
const (
	Supersedes = "superseded"
	Refutes    = "refuted"
	Resolves   = "resolved"
	Removes    = "removed"
	Describes  = "described" // replaces keywords and files
	Confirms   = "confirmed" // the user confirms the fact
	Verifies   = "verified"  // a reader says that the quotes support the fact, or the messages the summary
)

// A Judgement changes the state of a fact, or (Verifies, Removes) of the summary of an exchange. Of several with the same
// Fact and Says the last one counts.
type Judgement struct {
	Fact   objects.Hash `json:"fact"` // its key, or that of the exchange
	Says   string       `json:"says"`
	Value  bool         `json:"value"`
	By     objects.Hash `json:"by,omitzero"` // key of the fact that supersedes, refutes or resolves it
	Reason string       `json:"reason,omitempty"`

	Asked string `json:"asked,omitempty"` // for Verifies and Removes: who was asked
	Text  string `json:"text,omitempty"`  // for Verifies: a better wording of the summary

	Keywords []string `json:"keywords,omitempty"` // for Describes
	Files    []string `json:"files,omitempty"`
}

// The kinds of the records that [Fold] knows, with [Exchange], [Distilled] and [Judgement] as bodies.
const (
	KindExchange  = "exchange"
	KindDistilled = "distilled"
	KindJudgement = "judgement"
)

// A Set contains all facts, also those that are no longer live.
type Set struct {
	Exchanges []Exchange // in the order of their first records

	where   map[string][2]int // of facts in Exchanges, by ID
	through map[string][2]int // of each session: its last distilled generation, and the last message of it
}

// All yields all facts. The pointers point into the set.
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

// Live returns the live facts.
func (s *Set) Live() []Fact {
	var out []Fact
	for f := range s.All() {
		if f.Live() {
			out = append(out, *f)
		}
	}
	return out
}

// Fact returns the fact with a full ID.
func (s *Set) Fact(id string) (Fact, bool) {
	at, ok := s.where[id]
	if !ok {
		return Fact{}, false
	}
	return s.Exchanges[at[0]].Facts[at[1]], true
}

// Find returns the facts whose ID starts with prefix; "f:" is optional.
func (s *Set) Find(prefix string) []Fact {
	prefix = strings.TrimPrefix(strings.ToLower(prefix), "f:")
	var out []Fact
	for f := range s.All() {
		if strings.HasPrefix(f.Key().String(), prefix) {
			out = append(out, *f)
		}
	}
	return out
}

// ThroughOf returns the last distilled message of a generation of a session, 0 if nothing was distilled.
func (s *Set) ThroughOf(session string, generation int) int {
	if at := s.through[session]; at[0] == generation {
		return at[1]
	}
	return 0
}

// LiveExchanges returns the exchanges of a session with their live facts, in the order of messages. Exchanges that lost
// all facts are left out.
func (s *Set) LiveExchanges(session string) []Exchange {
	var out []Exchange
	for _, x := range s.Exchanges {
		if x.Session == session && x.Live() {
			x.Facts = slices.DeleteFunc(slices.Clone(x.Facts), func(f Fact) bool { return !f.Live() })
			out = append(out, x)
		}
	}
	slices.SortStableFunc(out, func(a, b Exchange) int { return cmp.Compare(a.From, b.From) })
	return out
}

// Name returns the ID that the fact has unless another ID starts with it.
func (f Fact) Name() string { return "f:" + f.Key().String()[:idLength] }

// Name returns the ID that the exchange has unless another ID starts with it.
func (x Exchange) Name() string { return "e:" + x.Key().String()[:idLength] }

// maxShown is the longest quote that [Fact.Shown] returns, in characters.
const maxShown = 300

// Shown returns the fact as it may be told to somebody: the sentence if it was verified; otherwise its quotes with their
// speakers, because nobody checked the sentence; "" for a fact without quotes that nobody confirmed.
func (f Fact) Shown() string {
	if f.Verdict == Verified {
		return f.Text
	}
	var out []string
	for _, e := range f.Evidence[:min(len(f.Evidence), 2)] {
		out = append(out, fmt.Sprintf("%s: \"%s\"", cmp.Or(e.By, Tool.String()), tokens.OneLine(e.Quote, maxShown)))
	}
	return strings.Join(out, "; ")
}

// StatementTrust returns who vouches for the sentence: the speaker of its quotes if it was verified, else at most the
// model that wrote it.
func (f Fact) StatementTrust() Trust {
	if f.Verdict == Verified {
		return f.Trust
	}
	return min(f.Trust, Assistant)
}
