package refs

import "context"

// A Writer locks the lanes of a project: no lane changes until the writer is closed, so the data that it has read
// is still current when it commits. Other writers of the project wait meanwhile.
type Writer struct {
	r    *Repo
	p    Project
	done func()
}

// Writer waits until the lanes of a project can be written, and holds them. The error wraps [ErrLocked] if that
// took longer than the timeout. The caller closes it. [Repo.Update] and [Repo.Rewrite] of the same project must
// not be called before.
func (r *Repo) Writer(ctx context.Context, p Project) (*Writer, error) {
	done, err := r.writes(ctx, p)
	if err != nil {
		return nil, err
	}
	return &Writer{r, p, done}, nil
}

// Update is [Repo.Update].
func (w *Writer) Update(ctx context.Context, message string, fn func(*Tx) error) error {
	return w.r.update(ctx, w.p, message, fn)
}

// Rewrite is [Repo.Rewrite].
func (w *Writer) Rewrite(ctx context.Context, message string, fn func(old, tx *Tx) error) error {
	return w.r.rewrite(ctx, w.p, message, fn)
}

// Close lets other writers continue.
func (w *Writer) Close() { w.done() }
