package remotecmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/sync"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/disk"
)

// ArchiveOptions select the content of an archive.
type ArchiveOptions struct {
	All       bool // every project
	Originals bool // the exact bytes too
	YesRaw    bool // without asking, although secrets are in them
	Force     bool // replace a file that mem did not write
}

// WriteArchive writes the memory of the project of the run, or of all projects, to a file, and prints it like a push.
func WriteArchive(ctx context.Context, e *app.Env, file string, o ArchiveOptions) error {
	path, err := app.OutPath(e, file)
	if err != nil {
		return err
	}
	if o.Originals && !o.YesRaw {
		if err := allowRaw(e, "writes secrets as they are to a file", "write", path, "confirm with --yes-raw"); err != nil {
			return err
		}
	}
	return app.WithMemory(ctx, e, func(run app.Run) error {
		projects, err := projectsToPush(ctx, run, nil, o.All || e.Opt.AllProjects)
		if err != nil {
			return app.WithHint(err, "every project: mem export --all "+term.Shell(file))
		}
		bar := e.ProgressBytes("writing", 0)
		var written capture.CheckedOut
		done, err := sync.WriteArchive(ctx, run.DB, func(write func(io.Writer) error) (err error) {
			written, err = capture.WriteTree(run.DB, filepath.Dir(path), o.Force, false, func(t *disk.Tree) ([]string, error) {
				return []string{filepath.Base(path)}, t.Stage(filepath.Base(path), write)
			})
			return err
		}, sync.ArchiveOptions{Projects: projects, Originals: o.Originals, DryRun: e.Opt.DryRun,
			Progress: bar.Add})
		bar.End()
		if errors.Is(err, disk.ErrExists) {
			return app.WithHint(fmt.Errorf("export: %w", err), "mem export --force "+term.Shell(file))
		}
		if err != nil {
			return fmt.Errorf("export: %w", err)
		}
		app.NoteCreated(e, written.Created)
		refused := slices.ContainsFunc(done.Lanes, func(l sync.PushedLane) bool { return l.Status == "refused" })
		if done.Objects == 0 && len(projects) > 0 && !refused {
			return app.WithCode(app.ExitNo, fmt.Errorf("nothing to write to %s: the memory is empty", file))
		}
		return printPush(e, refs.Remote{Name: file, URL: path}, done)
	})
}

// ReadArchive merges an archive into the memory, which it creates if there is none. It trusts the devices in the
// archive if trust is set.
func ReadArchive(ctx context.Context, e *app.Env, file string, trust bool) (err error) {
	f, err := os.Open(e.Path(file))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return app.WithStore(e, func(m *layers.Memory) error {
		info, err := f.Stat()
		if err != nil {
			return err
		}
		only, err := wanted(ctx, app.Run{Env: e, Memory: m})
		if err != nil {
			return err
		}
		bar := e.ProgressBytes("unpacking", 0)
		lanes, out, err := sync.ReadArchive(ctx, m.DB, f, info.Size(),
			sync.ReadArchiveOptions{Projects: only, DryRun: e.Opt.DryRun, Progress: bar.Add})
		bar.End()
		if err != nil {
			return archiveError(file, err)
		}
		if trust && !e.Opt.DryRun {
			if err := trustArchived(ctx, m, lanes, &out); err != nil {
				return err
			}
		}
		return printFetch(e, "pull", refs.Remote{Name: file, URL: e.Path(file)}, out)
	})
}

// trustArchived trusts the devices with a lane in an archive and prints a note for each new one.
func trustArchived(ctx context.Context, m *layers.Memory, lanes []refs.Lane, out *sync.Fetched) error {
	others, err := untrusted(ctx, m)
	if err != nil {
		return err
	}
	for _, d := range others {
		if !slices.ContainsFunc(lanes, func(l refs.Lane) bool { return l.Device == d.ID }) {
			continue
		}
		forgotten, err := sync.Trust(ctx, m.DB, d)
		if err != nil {
			return err
		}
		out.Forgotten = append(out.Forgotten, forgotten...)
		for i := range out.Devices {
			out.Devices[i].Trusted = out.Devices[i].Trusted || out.Devices[i].ID == d.ID
		}
	}
	return nil
}

// archiveError adds hints and an exit status to an error of an archive.
func archiveError(file string, err error) error {
	err = fmt.Errorf("import %s: %w", file, err)
	switch {
	case errors.Is(err, sync.ErrArchive):
		return app.WithHint(err, "nothing was imported from it",
			"export it again on the other machine: mem export --force "+term.Shell(file))
	case errors.Is(err, sync.ErrNewerArchive):
		return app.WithHint(err, "update mem")
	}
	return err
}
