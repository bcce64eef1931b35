package web

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/memvcs/mem/cmd/mem/internal/web/api"
	"github.com/memvcs/mem/layers/knowledge"
	"github.com/memvcs/mem/layers/knowledge/concepts"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
)

// editConcept renames, merges, splits or deletes a concept, or moves its members to another one.
func (s *Server) editConcept(w http.ResponseWriter, r *http.Request, p state.Project) (string, page, error) {
	ctx := r.Context()
	c, err := s.liveConcept(r, p, r.PostFormValue("concept"))
	if err != nil {
		return "", page{}, err
	}
	switch do := r.PostFormValue("do"); do {
	case "rename":
		err = s.renameConcept(r, p, c)
	case "merge":
		err = s.mergeConcept(r, p, c)
	case "move":
		err = s.moveMembers(r, p, c)
	case "delete":
		err = knowledge.ChangeConcept(ctx, s.Memory.DB, p, "remove concept "+c.Label,
			concepts.Change{Concept: c.Record, Field: "removed", Value: "true"})
	default:
		err = api.BadRequest("a concept can be renamed, merged, split or deleted")
	}
	return s.changed(w, r, err, "/p/"+string(p.ID)+"/facts?show=concepts")
}

// liveConcept finds a concept that is neither deleted nor merged into another one.
func (s *Server) liveConcept(r *http.Request, p state.Project, name string) (*concepts.Concept, error) {
	c, err := revision.FindConcept(r.Context(), s.Memory.DB, p.ID, name)
	if err == nil && (c == nil || !c.Live()) {
		err = api.NoSuch("concept", name)
	}
	return c, err
}

// formLine returns a form field as one line of at most limit characters.
func formLine(r *http.Request, field string, limit int) (string, error) {
	text := strings.Join(strings.Fields(r.PostFormValue(field)), " ")
	if !utf8.ValidString(text) || utf8.RuneCountInString(text) > limit {
		return "", api.BadRequest(fmt.Sprintf("the %s is a text of at most %d characters", field, limit))
	}
	return text, nil
}

func (s *Server) renameConcept(r *http.Request, p state.Project, c *concepts.Concept) error {
	var changes []concepts.Change
	for _, f := range []struct {
		field string
		limit int
		old   string
	}{{"name", 80, c.Name}, {"topic", 80, c.Topic}, {"summary", 1000, c.Summary}} {
		text, err := formLine(r, f.field, f.limit)
		if err != nil {
			return err
		}
		if text != "" && text != f.old {
			changes = append(changes, concepts.Change{Concept: c.Record, Field: f.field, Value: text})
		}
	}
	if len(changes) == 0 {
		return api.BadRequest("nothing was changed")
	}
	return knowledge.ChangeConcept(r.Context(), s.Memory.DB, p, "rename concept "+c.Label, changes...)
}

// mergeConcept merges c into another concept.
func (s *Server) mergeConcept(r *http.Request, p state.Project, c *concepts.Concept) error {
	into, err := s.liveConcept(r, p, r.PostFormValue("into"))
	if err != nil {
		return err
	}
	if into.Record == c.Record {
		return api.BadRequest(c.Label + " cannot be merged into itself")
	}
	return knowledge.ChangeConcept(r.Context(), s.Memory.DB, p, "merge "+c.Label+" into "+into.Label,
		concepts.Change{Concept: c.Record, Field: "into", Value: into.Record})
}

// moveMembers moves members of c to an existing concept, or to a new one, which splits c.
func (s *Server) moveMembers(r *http.Request, p state.Project, c *concepts.Concept) error {
	var members []knowledge.Member
	for _, name := range r.PostForm["member"] {
		if !slices.Contains(c.Sessions, name) && !slices.Contains(c.Exchanges, name) {
			return api.BadRequest(name + " does not belong to " + c.Label)
		}
		m, err := knowledge.FindMember(r.Context(), s.Memory.DB, s.ScopeOf(p), name)
		if err != nil {
			return err
		}
		members = append(members, m)
	}
	if len(members) == 0 {
		return api.BadRequest("select the sessions and exchanges to move")
	}
	name, err := formLine(r, "name", 80)
	if err != nil {
		return err
	}
	topic, err := formLine(r, "topic", 80)
	if err != nil {
		return err
	}
	to := knowledge.Target{Topic: topic}
	if name != "" {
		to.New = &concepts.Definition{Name: name, Topic: topic}
	} else if to.Concept, err = s.liveConcept(r, p, r.PostFormValue("into")); err != nil {
		return err
	}
	_, err = knowledge.Assign(r.Context(), s.Memory.DB, p, members, to, false)
	return err
}
