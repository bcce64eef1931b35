package view

import (
	"strings"

	"github.com/memvcs/mem/layers/provenance"
	"github.com/memvcs/mem/refs"
)

// An Operation is one change of a project.
type Operation struct {
	Commit   string            `json:"commit"`
	Parent   string            `json:"parent,omitempty"`
	Project  string            `json:"project"`
	ID       string            `json:"projectId"`
	Device   string            `json:"deviceId"`
	Name     string            `json:"deviceName"`
	Time     Time              `json:"timestamp"`
	Lamport  uint64            `json:"lamport"`
	Subject  string            `json:"subject"`
	Trailers map[string]string `json:"trailers"`
	Uses     []string          `json:"uses,omitempty"`    // commits, with --graph
	Changes  []Appearance      `json:"changes,omitempty"` // with -S
	Stat     []string          `json:"stat,omitempty"`    // with --stat
}

// An Appearance is a text that an operation added or removed, by the name of the thing that has it.
type Appearance = provenance.Mention

// OperationOf returns an operation of the log of a project.
func OperationOf(e *refs.Entry, project string) Operation {
	out := Operation{Commit: e.Commit, Parent: e.Parent, Project: project, ID: string(e.Project), Device: e.Device, Name: e.Name,
		Time: Time{e.Time}, Lamport: e.Lamport, Subject: e.Subject, Trailers: map[string]string{}}
	for _, t := range e.Trailers {
		if key, value, ok := strings.Cut(strings.TrimPrefix(t, "Mem-"), ": "); ok && key != "Lamport" && key != "Project" {
			out.Trailers[key] = value
		}
	}
	return out
}
