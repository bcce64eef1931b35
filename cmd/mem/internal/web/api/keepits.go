package api

import (
	"net/http"

	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/view"
)

func keepitEndpoints() []endpoint {
	return []endpoint{
		{http.MethodGet, "/sessions/{sessionId}/keepits", "List keepit markers", nil, nil, lists("markers", []view.Marker{}),
			with(pathSession, (*API).apiKeepits)},
		{http.MethodPut, "/sessions/{sessionId}/keepits/{markerId}",
			"Update a keepit weight; existing versions do not change", nil,
			WeightRequest{}, answers(view.Marker{}), with(pathSession, (*API).apiSetKeepit)},
	}
}

// A WeightRequest is the new weight of a marker.
type WeightRequest struct {
	Weight view.Weight `json:"weight"`
}

func (s *API) apiKeepits(c *call, rev state.Rev) (reply, error) {
	man, err := view.DetailsOf(c, s.Memory.DB, rev)
	return result(listOf("markers", man.Markers, ""), err)
}

func (s *API) apiSetKeepit(c *call, rev state.Rev) (reply, error) {
	in := WeightRequest{-1}
	if err := c.into(&in); err != nil {
		return reply{}, err
	}
	if in.Weight < 0 {
		return reply{}, BadRequest("the body has no weight", `{"weight": 0.80}`)
	}
	k, err := markers.SetKeepit(c, s.Memory.DB, rev, c.r.PathValue("markerId"), keepit.Weight(in.Weight), markers.Edit{})
	if err != nil {
		return reply{}, err
	}
	s.Events.Changed()
	if rev, err = s.Session(c, rev.Session.ID); err != nil { // with the new weight
		return reply{}, err
	}
	man, err := view.DetailsOf(c, s.Memory.DB, rev)
	if err != nil {
		return reply{}, err
	}
	for _, m := range man.Markers {
		if m.ID == k.ID {
			return ok(m)
		}
	}
	return reply{}, NoSuch("marker", k.ID)
}
