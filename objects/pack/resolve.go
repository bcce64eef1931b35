package pack

import (
	"fmt"
	"slices"
)

// maxChain is the maximum length of a delta chain; git creates none longer than 4095.
const maxChain = 4095

// A solved object is the base of the deltas that are resolved next.
type solved struct {
	off   int64
	id    ID
	kind  Kind
	data  []byte
	depth int
}

// resolve resolves all deltas, depth first from the whole objects, so that at most one chain of objects is in memory.
func (in *inlet) resolve() error {
	var offs []int64
	for off, id := range in.at {
		if len(in.byOffset[off]) > 0 || len(in.byID[id]) > 0 {
			offs = append(offs, off)
		}
	}
	slices.Sort(offs)
	for _, off := range offs {
		if in.large[in.at[off]] {
			return fmt.Errorf("a difference to an object of more than %d bytes: %w", maxHeld, ErrTooLarge)
		}
		k, data, err := in.w.read(in.at[off])
		if err != nil {
			return err
		}
		if err := in.resolveFrom(solved{off, in.at[off], k, data, 0}); err != nil {
			return err
		}
	}
	if len(in.byOffset) > 0 || len(in.byID) > 0 {
		return fmt.Errorf("%d deltas have no base in the pack: %w", len(in.byOffset)+len(in.byID),
			ErrCorrupt)
	}
	return nil
}

func (in *inlet) resolveFrom(root solved) error {
	stack := []solved{root}
	held := int64(len(root.data))
	for len(stack) > 0 {
		top := stack[len(stack)-1]
		d, ok := in.next(top)
		if !ok {
			held -= int64(len(top.data))
			stack = stack[:len(stack)-1]
			continue
		}
		data, err := applyDelta(top.data, d.delta, min(in.l.Object, maxHeld))
		if err != nil {
			return err
		}
		in.deltas++
		in.unpacked += int64(len(data))
		held += int64(len(data))
		if in.unpacked > slack+in.l.Ratio*in.f.offset() || held > MaxSize || top.depth == maxChain {
			return fmt.Errorf("its differences make too much: %w", ErrTooLarge)
		}
		e := Encode(top.kind, data, 6)
		if err := in.w.Add(e); err != nil {
			return err
		}
		in.at[d.off] = e.ID
		stack = append(stack, solved{d.off, e.ID, top.kind, data, top.depth + 1})
	}
	return nil
}

// next returns one of the deltas that wait for s.
func (in *inlet) next(s solved) (d waiting, ok bool) {
	if ds := in.byOffset[s.off]; len(ds) > 0 {
		d, in.byOffset[s.off] = ds[0], ds[1:]
		if len(ds) == 1 {
			delete(in.byOffset, s.off)
		}
		return d, true
	}
	if ds := in.byID[s.id]; len(ds) > 0 {
		d, in.byID[s.id] = ds[0], ds[1:]
		if len(ds) == 1 {
			delete(in.byID, s.id)
		}
		return d, true
	}
	return d, false
}

// read returns an object that was added before.
func (w *Writer) read(id ID) (Kind, []byte, error) {
	if w.places == nil {
		w.places = map[ID]int64{}
	}
	for _, it := range w.items[len(w.places):] {
		w.places[it.id] = it.off
	}
	off, ok := w.places[id]
	if !ok {
		return 0, nil, fmt.Errorf("object %s: %w", id, ErrNotFound)
	}
	if w.f == nil || len(w.buf) > 0 {
		if err := w.flush(); err != nil {
			w.err = err
			return 0, nil, err
		}
	}
	return readObject(w.f, id, off, w.size)
}
