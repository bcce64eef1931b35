package repair

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/memvcs/mem/refs"
)

// checkControls checks the control files, which docs/formats.md lists.
func (c *checker) checkControls(r *refs.Repo) error {
	files, err := refs.ChecksummedFiles(r.Dir())
	if err != nil {
		return err
	}
	for _, name := range files {
		if err := checkFile(r.Dir(), name); err != nil {
			c.bad(name, "%v", err)
		}
	}
	missing, err := r.MissingFormer(c.ctx)
	if len(missing) > 0 {
		c.bad(refs.FormerFile, "%s", formerMissing)
	}
	return err
}

// formerMissing is the fault of lanes that [refs.Repo.MissingFormer] returns.
const formerMissing = "it lacks commits of a lane from before it restarted"

// FixFormer adds to [refs.FormerFile] the commits that remotes had of restarted lanes of this device, and returns the
// fixes with this one. A damaged file is among them already. With dryRun it changes no file.
func FixFormer(ctx context.Context, r *refs.Repo, fixes []Fix, dryRun bool) ([]Fix, error) {
	missing, err := r.MissingFormer(ctx)
	at := slices.IndexFunc(fixes, func(f Fix) bool { return f.Where == refs.FormerFile })
	if at < 0 && len(missing) > 0 {
		at, fixes = len(fixes), append(fixes, Fix{Where: refs.FormerFile, What: formerMissing})
	}
	if at < 0 {
		return fixes, err
	}
	fixes[at].Done = "lists the commits that the remotes were known to have"
	if dryRun {
		return fixes, err
	}
	if len(missing) == 0 { // damaged, of lanes that are gone
		missing[refs.Home] = nil
	}
	for _, p := range slices.Sorted(maps.Keys(missing)) {
		kept, aerr := r.AddFormer(ctx, p, missing[p])
		fixes[at].Kept, err = cmp.Or(fixes[at].Kept, kept), errors.Join(err, aerr)
	}
	return fixes, err
}
