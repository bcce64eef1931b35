package incoming

import (
	"fmt"

	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs/lane"
)

// newEpoch accepts a lane that does not continue its known commits if the device restarted it: its first commit has a
// later epoch, and a Lamport time that shows that its author knew the known tip. [verifier.commit] checks the
// signature.
func (v *verifier) newEpoch(first pack.ID) error {
	c, err := v.q.git.Commit(first)
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
	was, err := lane.EpochAt(v.ctx, v.q.git, v.lane.Old)
	if err != nil {
		return err
	}
	here, err := v.q.git.Commit(v.lane.Old)
	if err != nil {
		return err
	}
	seen, err := lane.LamportOf(here)
	if err != nil {
		return err
	}
	if !c.Parent.IsZero() || now <= was || lamport < seen && v.q.r.AcceptsLamport(seen) {
		return v.rewritten()
	}
	v.lane.Epoch = now
	return nil
}

// rewritten returns [ErrRewritten] if the device has signed the new tip, and [ErrRefused] otherwise. Without this
// check, anybody could make a device believe that a copy of its store exists.
func (v *verifier) rewritten() error {
	c, err := v.q.git.Commit(v.lane.Tip)
	if err == nil && c.Email != v.lane.Device+"@mem.invalid" {
		err = fmt.Errorf("its author %q is not the lane's device", c.Email)
	}
	if err == nil {
		err = lane.VerifySignature(v.lane.Key, c.Signature, c.Payload())
	}
	if err != nil {
		return v.refuse(fmt.Errorf("it does not continue its known commits, and its device has not signed it: %w", err))
	}
	return fmt.Errorf("lane of %s: %w", v.lane.Device, ErrRewritten)
}
