package refs

import "context"

// A Writer locks this device's lanes of a project. They do not change until the writer is closed, so the data that it
// has read is still current when it commits. Other writers of the project wait meanwhile.
type Writer struct {
	r    *Repo
	p    Project
	done func()
}

// Writer locks the lanes of a project. The error wraps [ErrLocked] if that takes longer than the timeout. The caller
// must close the writer, and must not call [Repo.Update] or [Repo.Rewrite] of the same project before.
func (r *Repo) Writer(ctx context.Context, p Project) (*Writer, error) {
	done, err := r.lockWrite(ctx, p)
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

// Close unlocks the lanes.
func (w *Writer) Close() { w.done() }
