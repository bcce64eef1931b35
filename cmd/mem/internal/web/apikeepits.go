package web

import (
	"net/http"

	"github.com/memvcs/mem/layers/history"
	"github.com/memvcs/mem/layers/keepit"
)

func keepitEndpoints() []endpoint {
	return []endpoint{
		{http.MethodGet, "/sessions/{sessionId}/keepits", "List keepit markers", nil, nil, answers(markerList{}), (*API).apiKeepits},
		{http.MethodPut, "/sessions/{sessionId}/keepits/{markerId}", "Update keepit weight: versions that exist stay as they are", nil,
			weightRequest{}, answers(history.ManifestMarker{}), (*API).apiSetKeepit},
	}
}

type markerList struct {
	Markers []history.ManifestMarker `json:"markers"`
}

type weightRequest struct {
	Weight weight `json:"weight"`
}

func (s *API) apiKeepits(c *call) (reply, error) {
	rev, err := s.session(c, c.r.PathValue("sessionId"))
	if err != nil {
		return reply{}, err
	}
	man, err := s.Memory.History().ManifestOf(c, rev)
	if err != nil {
		return reply{}, err
	}
	return ok(markerList{man.Markers})
}

func (s *API) apiSetKeepit(c *call) (reply, error) {
	in := weightRequest{-1}
	if err := c.into(&in); err != nil {
		return reply{}, err
	}
	if in.Weight < 0 {
		return reply{}, badRequest("the body has no weight", `{"weight": 0.80}`)
	}
	rev, err := s.session(c, c.r.PathValue("sessionId"))
	if err != nil {
		return reply{}, err
	}
	k, err := s.Memory.Markers().SetKeepit(c, rev, c.r.PathValue("markerId"), keepit.Weight(in.Weight), false)
	if err != nil {
		return reply{}, err
	}
	s.events.changed()
	if rev, err = s.session(c, sessionName(rev.Session)); err != nil { // with the new weight
		return reply{}, err
	}
	man, err := s.Memory.History().ManifestOf(c, rev)
	if err != nil {
		return reply{}, err
	}
	for _, m := range man.Markers {
		if m.ID == k.ID {
			return ok(m)
		}
	}
	return reply{}, noSuch("marker", k.ID)
}
