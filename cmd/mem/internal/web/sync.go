package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/memvcs/mem/cmd/mem/internal/web/api"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/sync"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
)

// A syncBody is the state of the remotes.
type syncBody struct {
	Remotes []syncRow
}

type syncRow struct {
	sync.Status
	Problem string
}

func (s *Server) sync(_ http.ResponseWriter, r *http.Request) (string, page, error) {
	all, err := s.remotes(r.Context())
	if err != nil {
		return "", page{}, err
	}
	b := syncBody{Remotes: all}
	return "sync", page{Title: "Sync", Crumbs: []crumb{{"Memory", "/"}, {"Sync", ""}}, Body: b}, nil
}

// remotes returns the last known state of each remote. It does not use the network.
func (s *Server) remotes(ctx context.Context) ([]syncRow, error) {
	all, err := sync.Remotes(s.Memory.DB)
	var out []syncRow
	for _, one := range all {
		t, err := sync.RemoteStatus(ctx, s.Memory.DB, one, false)
		row := syncRow{Status: t}
		if row.Remote = one; err != nil {
			row.Problem = err.Error()
		}
		out = append(out, row)
	}
	return out, err
}

// startSync pulls, pushes or both in the background. A push sends the projects that were pushed to the remote before: the
// first push of a project is a decision for the command line, which asks.
func (s *Server) startSync(w http.ResponseWriter, r *http.Request) (string, page, error) {
	do := r.PostFormValue("do")
	if do != "push" && do != "pull" && do != "sync" {
		return "", page{}, api.BadRequest("do is push, pull or sync")
	}
	to, err := sync.Remote(s.Memory.DB, r.PostFormValue("remote"))
	if err != nil {
		return "", page{}, err
	}
	j := s.Jobs.Start(do+" "+to.Name, func(ctx context.Context) (string, error) {
		if do != "push" {
			out, err := sync.Fetch(ctx, s.Memory.DB, sync.FetchOptions{Remote: to})
			if err == nil && out.Twin {
				err = errors.New("the remote has other memory of this device: mem pull continues as a new device")
			}
			if err != nil {
				return "", err
			}
		}
		if do != "pull" {
			if err := s.push(ctx, to); err != nil {
				return "", err
			}
		}
		return "/sync", nil
	})
	return redirect(w, r, "/jobs/"+j.ID)
}

// push sends the projects that the remote has. The error names the first that was not sent.
func (s *Server) push(ctx context.Context, to refs.Remote) error {
	all, err := trust.Projects(ctx, s.Memory.DB)
	if err != nil {
		return err
	}
	var sent []state.Project
	for _, p := range all {
		if _, ok := to.Projects[p.ID]; ok {
			sent = append(sent, p)
		}
	}
	if len(sent) == 0 {
		return fmt.Errorf("no project was pushed to %s before: mem push --all %s", to.Name, to.Name)
	}
	out, err := sync.Push(ctx, s.Memory.DB, sync.PushOptions{Remote: to, Projects: sent})
	if err != nil {
		return err
	}
	for _, l := range out.Lanes {
		if l.Status == "refused" || l.Status == "rejected" || l.Status == "declined" {
			return fmt.Errorf("%s is not pushed (%s): %s", l.Project.Name, l.Status, l.Why)
		}
	}
	return nil
}
