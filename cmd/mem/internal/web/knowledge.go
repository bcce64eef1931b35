package web

import (
	"net/http"
	"slices"

	"github.com/memvcs/mem/cmd/mem/internal/web/api"
	"github.com/memvcs/mem/layers/knowledge"
	"github.com/memvcs/mem/layers/knowledge/concepts"
	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/knowledge/permanent"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
)

// A knowledgeBody lists the facts, the concepts or the rules of a project.
type knowledgeBody struct {
	Show     string
	Kind     string
	Kinds    []facts.Kind
	Facts    []facts.Fact
	Concepts []*concepts.Concept
	Rules    []*permanent.Rule
}

func (s *Server) knowledge(_ http.ResponseWriter, r *http.Request, p state.Project) (string, page, error) {
	ctx := r.Context()
	b := knowledgeBody{Show: r.URL.Query().Get("show"), Kind: r.URL.Query().Get("kind")}
	switch b.Show {
	case "concepts":
		set, err := revision.Concepts(ctx, s.Memory.DB, p.ID)
		if err != nil {
			return "", page{}, err
		}
		b.Concepts = api.ValidConcepts(set)
	case "rules":
		set, err := revision.Rules(ctx, s.Memory.DB, p.ID)
		if err != nil {
			return "", page{}, err
		}
		b.Rules = api.ValidRules(set)
	default:
		b.Show = "facts"
		set, err := revision.Facts(ctx, s.Memory.DB, p.ID)
		if err != nil {
			return "", page{}, err
		}
		for _, f := range api.Valid(set, "") {
			if !slices.Contains(b.Kinds, f.Kind) {
				b.Kinds = append(b.Kinds, f.Kind)
			}
		}
		slices.Sort(b.Kinds)
		b.Facts = api.Valid(set, b.Kind)
	}
	return projectPage("knowledge", "facts", "Facts, concepts and rules", p, b, nil)
}

// judgeFact removes a fact, or resolves an issue.
func (s *Server) judgeFact(w http.ResponseWriter, r *http.Request, p state.Project) (string, page, error) {
	ctx := r.Context()
	f, err := revision.FindFact(ctx, s.Memory.DB, p.ID, r.PostFormValue("fact"))
	if err != nil {
		return "", page{}, err
	}
	says := map[string]string{"remove": facts.Removes, "resolve": facts.Resolves}[r.PostFormValue("do")]
	if says == "" {
		return "", page{}, api.BadRequest("a fact can be removed or resolved")
	}
	if says == facts.Resolves && f.Kind != facts.Issue {
		return "", page{}, api.BadRequest("only an issue can be resolved")
	}
	err = knowledge.JudgeFacts(ctx, s.Memory.DB, p.ID, []facts.Fact{f},
		facts.Judgement{Says: says, Value: true, Reason: "on the page of facts"}, false)
	return s.changed(w, r, err, r.PostFormValue("back"))
}

// actOnRule confirms or rejects a rule.
func (s *Server) actOnRule(w http.ResponseWriter, r *http.Request, p state.Project) (string, page, error) {
	ctx := r.Context()
	rule, err := revision.FindRule(ctx, s.Memory.DB, p.ID, r.PostFormValue("rule"))
	if err != nil {
		return "", page{}, err
	}
	act := r.PostFormValue("do")
	if !slices.Contains([]string{permanent.Promote, permanent.Validate, permanent.Retire}, act) {
		return "", page{}, api.BadRequest("a rule can be promoted, validated or retired")
	}
	_, err = knowledge.Act(ctx, s.Memory.DB, p, rule, permanent.Act{Act: act, ByUser: byUser(r),
		Reason: "on the page of rules"}, false)
	return s.changed(w, r, err, r.PostFormValue("back"))
}

// byUser reports whether a request is a form of a page, signed in with the cookie and not with a token.
func byUser(r *http.Request) bool {
	return r.Header.Get("Authorization") == "" && r.Header.Get("Origin") == "http://"+r.Host
}
