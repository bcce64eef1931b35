package sessions

import (
	"context"
	"errors"
	"fmt"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
)

// An Edit says how something is named.
type Edit struct {
	Force  bool // take the name away from another target
	DryRun bool
	Tool   string // from which the name is imported; "" for mem
}

// Errors of naming.
var (
	ErrTaken = errors.New("the name is taken")
	ErrNoTag = errors.New("no such tag")
	ErrKind  = errors.New("only sessions and compositions are renamed, only sessions and versions are tagged")
)

// Retitle sets the title of a session. An empty title restores that of the transcript.
func Retitle(ctx context.Context, db *state.DB, rev state.Rev, title string, how Edit) error {
	body := records.NameBody{Target: "session/" + rev.Session.ID, Field: records.FieldTitle, Removed: title == ""}
	if title != "" {
		t, err := records.ParseTitle(title)
		if err != nil {
			return err
		}
		body.Name = string(t)
	}
	return record(ctx, db, rev, how.Tool, "mv "+rev.Session.Name(), "mv", body)
}

// Tag tags a session or a version. A dry run only checks. The error wraps [ErrTaken] if another target has the tag
// and the edit does not force it.
func Tag(ctx context.Context, db *state.DB, rev state.Rev, name string, how Edit) error {
	if _, err := records.ParseName(name); err != nil {
		return err
	}
	target, what, err := rev.Target()
	if err != nil || rev.Kind == state.IsComposition {
		return fmt.Errorf("tag %s: %w", rev.Name(), ErrKind)
	}
	st, err := trust.Outline(ctx, db, rev.Project.ID)
	if err != nil {
		return err
	}
	if st.Composition(name) != nil {
		return fmt.Errorf("tag %s: %w by a composition", name, ErrTaken)
	}
	for _, t := range st.Tags() {
		was, _, err := t.Rev(rev.Project).Target()
		switch {
		case t.Name != name || err != nil:
		case was == target:
			return nil
		case !how.Force:
			return fmt.Errorf("tag %s: %w by %s", name, ErrTaken, t.Rev(rev.Project).Name())
		}
	}
	if how.DryRun {
		return nil
	}
	return record(ctx, db, rev, how.Tool, "tag "+name+"  "+what, "tag", records.NameBody{Target: target, Field: records.FieldTag,
		Name: name})
}

// Untag deletes a tag of a project. A dry run only checks. The error wraps [ErrNoTag] if the tag does not exist.
func Untag(ctx context.Context, db *state.DB, p state.Project, name string, dryRun bool) error {
	st, err := trust.Outline(ctx, db, p.ID)
	if err != nil {
		return err
	}
	for _, t := range st.Tags() {
		if t.Name == name {
			rev := t.Rev(p)
			target, _, err := rev.Target()
			if err != nil {
				return err
			}
			if dryRun {
				return nil
			}
			return record(ctx, db, rev, "", "tag -d "+name, "tag", records.NameBody{Target: target, Field: records.FieldTag, Name: name,
				Removed: true})
		}
	}
	return fmt.Errorf("tag %s: %w", name, ErrNoTag)
}

// Tags returns the tags of a project, sorted by name.
func Tags(ctx context.Context, db *state.DB, p refs.Project) ([]state.Tag, error) {
	st, err := trust.Outline(ctx, db, p)
	if err != nil {
		return nil, err
	}
	return st.Tags(), nil
}

// RenameComposition renames a composition and its earlier states. Its text keeps the old name in its heading. The
// error wraps [ErrTaken] if a composition or a tag has the name.
func RenameComposition(ctx context.Context, db *state.DB, rev state.Rev, name string) error {
	if _, err := records.ParseName(name); err != nil {
		return err
	}
	was := rev.Composition.Name
	if _, err := records.ParseName(was); err != nil {
		return fmt.Errorf("mv %s: %w", was, err)
	}
	return db.Refs.Update(ctx, rev.Project.ID, "mv "+was+" "+name, func(tx *refs.Tx) error {
		st, err := db.Fold(ctx, tx, rev.Project.ID)
		if err != nil {
			return err
		}
		if st.Composition(name) != nil {
			return fmt.Errorf("mv %s: %w by a composition", name, ErrTaken)
		}
		for _, t := range st.Tags() {
			if t.Name == name {
				return fmt.Errorf("mv %s: %w by a tag", name, ErrTaken)
			}
		}
		tx.Trailer("Op", "mv")
		tx.Trailer("Composition", name)
		for _, c := range st.Compositions {
			if c.Name != was || c.Deleted {
				continue
			}
			again := *c
			again.Name = name
			if _, err := tx.Add(records.KindComposition, &again); err != nil {
				return err
			}
		}
		_, err = tx.Add(records.KindSet, records.SetBody{Target: "composition/" + was, Field: "deleted", Value: true})
		return err
	})
}

// record writes a name.
func record(ctx context.Context, db *state.DB, rev state.Rev, tool, message, op string, body records.NameBody) error {
	if tool != "" {
		message += ", imported from " + tool
	}
	return db.Refs.Update(ctx, rev.Project.ID, message, func(tx *refs.Tx) error {
		tx.Trailer("Op", op)
		tx.Trailer("Session", rev.Session.ID)
		_, err := tx.Add(records.KindName, body)
		return err
	})
}
