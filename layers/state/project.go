package state

import (
	"context"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/refs"
)

// PathsOf returns the directories of a device, later records last. On another device a path is another directory.
func (st *State) PathsOf(device string) []records.PathBody {
	var out []records.PathBody
	for _, p := range st.Paths {
		if p.Stamp.Device == device {
			out = append(out, p.PathBody)
		}
	}
	return out
}

// nameProject names the project in the first commit of this device's lane, as other lanes do: it may be alone there.
func (m *DB) nameProject(ctx context.Context, tx *refs.Tx) (kind string, body any, err error) {
	if tx.Project() == refs.Home {
		return "", nil, nil
	}
	st, err := m.Fold(ctx, tx, tx.Project())
	if err != nil || st.Name == "" {
		return "", nil, err
	}
	return records.KindProject, records.ProjectBody{Identity: st.Identity, Name: st.Name}, nil
}

// AsProject returns the project of a state.
func (st *State) AsProject() Project { return Project{st.Project, st.Name, st.Identity} }
