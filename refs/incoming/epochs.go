package incoming

import (
	"fmt"

	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs/lane"
)

// newEpoch accepts that a lane does not go on from where it is here if its device says so: its first commit
// begins a later epoch, and was made by somebody who knew all of the lane that is here. That it is signed is
// checked with all others.
func (v *arriver) newEpoch(first pack.ID) error {
	c, err := v.git.Commit(first)
	if err != nil {
		return v.refuse(err)
	}
	now, err := lane.EpochOf(c)
	if err != nil {
		return v.refuse(fmt.Errorf("commit %s: epoch: %w", first, err))
	}
	lamport, err := lane.LamportOf(c)
	if err != nil {
		return v.refuse(fmt.Errorf("commit %s: %w", first, err))
	}
	was, err := lane.EpochAt(v.ctx, v.git, v.a.Old)
	if err != nil {
		return err
	}
	here, err := v.git.Commit(v.a.Old)
	if err != nil {
		return err
	}
	seen, err := lane.LamportOf(here)
	if err != nil {
		return err
	}
	if !c.Parent.IsZero() || now <= was || lamport < seen && v.takes(seen) {
		return v.rewritten()
	}
	v.a.Epoch = now
	return nil
}

// rewritten returns [ErrRewritten] if the device itself signed the lane that does not go on. Else anybody could
// make a device believe that a copy of it is about.
func (v *arriver) rewritten() error {
	c, err := v.git.Commit(v.a.Tip)
	if err == nil && c.Email != v.a.Device+"@mem.invalid" {
		err = fmt.Errorf("its author %q is not the lane's device", c.Email)
	}
	if err == nil {
		err = lane.VerifySignature(v.a.Key, c.Signature, c.Payload())
	}
	if err != nil {
		return v.refuse(fmt.Errorf("it does not go on from where it was, and its device did not do that: %w", err))
	}
	return fmt.Errorf("lane of %s: %w", v.a.Device, ErrRewritten)
}
