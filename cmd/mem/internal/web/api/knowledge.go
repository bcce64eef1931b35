package api

import (
	"net/http"
	"slices"

	"github.com/memvcs/mem/layers/knowledge/concepts"
	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/knowledge/permanent"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
)

func knowledgeEndpoints() []endpoint {
	return []endpoint{
		{http.MethodGet, "/facts", "List valid facts",
			pageParams(projectParam(), param{"kind", "string", "kind of the facts"}), nil, answers(factList{}),
			with(queryProject, (*API).apiFacts)},
		{http.MethodGet, "/rules", "List the permanent rules", pageParams(projectParam()), nil, answers(ruleList{}),
			with(queryProject, (*API).apiRules)},
		{http.MethodGet, "/concepts", "List the concepts", pageParams(projectParam()), nil, answers(conceptList{}),
			with(queryProject, (*API).apiConcepts)},
	}
}

type factList struct {
	Facts []factAnswer `json:"facts"`
	Next  string       `json:"nextCursor,omitempty"`
}

// A factAnswer is a fact with its evidence.
type factAnswer struct {
	ID        string           `json:"id"`
	Type      string           `json:"type"`
	Text      string           `json:"text"`
	Verdict   string           `json:"verdict"` // verified, quoted or stated
	By        string           `json:"verifiedBy,omitempty"`
	At        string           `json:"verifiedAt,omitempty"`
	Notes     []string         `json:"notes"` // what code did not find
	Trust     string           `json:"trust"`
	Sources   []evidenceAnswer `json:"sources"`
	Files     []string         `json:"files"`
	Time      string           `json:"timestamp,omitempty"`
	Confirmed bool             `json:"validatedByUser"` // by "mem facts confirm"
	Open      bool             `json:"open"`            // an unresolved issue
}

type evidenceAnswer struct {
	Session string `json:"sessionId"`
	Message int    `json:"message"`
	Excerpt string `json:"excerpt"`
	By      string `json:"saidBy,omitempty"`
}

func factOf(f facts.Fact) factAnswer {
	a := factAnswer{ID: f.ID, Type: string(f.Kind), Text: f.Text, Verdict: string(f.Verdict), Trust: f.Trust.String(),
		By: f.VerifiedBy, At: TimeText(f.VerifiedAt), Notes: append([]string{}, f.Notes...),
		Sources: []evidenceAnswer{},
		Files:   append([]string{}, f.Files...), Time: TimeText(f.Time), Confirmed: f.Confirmed, Open: f.Open()}
	for _, e := range f.Evidence {
		a.Sources = append(a.Sources, evidenceAnswer{f.Session, e.Message, e.Quote, e.By})
	}
	return a
}

func (s *API) apiFacts(c *call, p state.Project) (reply, error) {
	set, err := revision.Facts(c, s.Memory.DB, p.ID)
	if err != nil {
		return reply{}, err
	}
	list, next, err := paged(c, Valid(set, c.r.URL.Query().Get("kind")), func(f facts.Fact) string { return f.ID }, factOf)
	return result(factList{list, next}, err)
}

type ruleList struct {
	Rules []ruleAnswer `json:"rules"`
	Next  string       `json:"nextCursor,omitempty"`
}

// A ruleAnswer is a permanent rule.
type ruleAnswer struct {
	ID             string   `json:"id"`
	Type           string   `json:"type"`
	Text           string   `json:"text"`
	State          string   `json:"state"`
	Confidence     float64  `json:"confidence"`
	Contradictions int      `json:"contradictions"`
	Stated         bool     `json:"statedByUser"`
	Evidence       []string `json:"evidence"`
	Files          []string `json:"files"`
	LastValidated  string   `json:"lastValidated,omitempty"`
}

func (s *API) apiRules(c *call, p state.Project) (reply, error) {
	set, err := revision.Rules(c, s.Memory.DB, p.ID)
	if err != nil {
		return reply{}, err
	}
	list, next, err := paged(c, ValidRules(set), func(r *permanent.Rule) string { return r.ID },
		func(r *permanent.Rule) ruleAnswer {
			return ruleAnswer{r.ID, r.Type, r.Text, r.State, float64(r.Confidence) / 100, r.Contradictions, r.Stated,
				append([]string{}, r.Evidence...), append([]string{}, r.Files...), TimeText(r.LastValidated)}
		})
	return result(ruleList{list, next}, err)
}

type conceptList struct {
	Concepts []conceptAnswer `json:"concepts"`
	Next     string          `json:"nextCursor,omitempty"`
}

// A conceptAnswer is a concept with its members.
type conceptAnswer struct {
	ID       string   `json:"conceptId"`
	Label    string   `json:"label"`
	Name     string   `json:"conceptName"`
	Topic    string   `json:"topic"`
	Summary  string   `json:"summary"`
	Sessions []string `json:"sessions"`
	Files    []string `json:"files"`
	Updated  string   `json:"updated,omitempty"`
}

func (s *API) apiConcepts(c *call, p state.Project) (reply, error) {
	set, err := revision.Concepts(c, s.Memory.DB, p.ID)
	if err != nil {
		return reply{}, err
	}
	list, next, err := paged(c, ValidConcepts(set), func(x *concepts.Concept) string { return x.ID },
		func(x *concepts.Concept) conceptAnswer {
			return conceptAnswer{x.ID, x.Label, x.Name, x.Topic, x.Summary, append([]string{}, x.Sessions...),
				append([]string{}, x.Files...), TimeText(x.Updated)}
		})
	return result(conceptList{list, next}, err)
}

// ValidConcepts returns the concepts that are neither deleted, merged into another one nor revoked.
func ValidConcepts(set *concepts.Set) []*concepts.Concept {
	return slices.DeleteFunc(slices.Clone(set.Concepts), func(c *concepts.Concept) bool {
		return !c.Live() || c.Revoked != ""
	})
}

// ValidRules returns the rules that are not hidden because their evidence is revoked.
func ValidRules(set *permanent.Set) []*permanent.Rule {
	return slices.DeleteFunc(slices.Clone(set.Rules), func(r *permanent.Rule) bool { return r.Revoked != "" })
}

// Valid returns the valid facts that are not hidden, newest first; kind "" means all kinds.
func Valid(set *facts.Set, kind string) []facts.Fact {
	out := slices.DeleteFunc(set.Live(), func(f facts.Fact) bool {
		return f.Revoked != "" || kind != "" && string(f.Kind) != kind
	})
	slices.SortStableFunc(out, func(a, b facts.Fact) int { return b.Time.Compare(a.Time) })
	return out
}
