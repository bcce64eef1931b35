package pack

import (
	"fmt"
	"slices"
)

// A resolvedObject is the base of the deltas that are resolved next.
type resolvedObject struct {
	off   int64
	id    ID
	kind  Kind
	data  []byte
	depth int
}

// resolve resolves all deltas, depth first from the whole objects, so that at most one chain of objects is in memory.
func (in *receiver) resolve() error {
	var offs []int64
	for off, id := range in.at {
		if len(in.byOffset[off]) > 0 || len(in.byID[id]) > 0 {
			offs = append(offs, off)
		}
	}
	slices.Sort(offs)
	for _, off := range offs {
		k, data, err := in.w.read(in.at[off])
		if err != nil {
			return err
		}
		if err := in.resolveFrom(resolvedObject{off, in.at[off], k, data, 0}); err != nil {
			return err
		}
	}
	if len(in.byOffset) > 0 || len(in.byID) > 0 {
		return fmt.Errorf("%d deltas have no base in the pack: %w", len(in.byOffset)+len(in.byID),
			ErrCorrupt)
	}
	return nil
}

func (in *receiver) resolveFrom(root resolvedObject) error {
	stack := []resolvedObject{root}
	inMemory := int64(len(root.data))
	for len(stack) > 0 {
		top := stack[len(stack)-1]
		d, ok := in.next(top)
		if !ok {
			inMemory -= int64(len(top.data))
			stack = stack[:len(stack)-1]
			continue
		}
		data, err := applyDelta(top.data, d.delta, min(in.l.Object, MaxSize))
		if err != nil {
			return err
		}
		in.deltas++
		in.unpacked += int64(len(data))
		inMemory += int64(len(data))
		if in.unpacked > minUnpacked+in.l.Ratio*in.f.offset() || inMemory > 4*MaxSize || top.depth == maxChain {
			return fmt.Errorf("its deltas unpack to too many bytes: %w", ErrTooLarge)
		}
		e := Encode(top.kind, data, 6)
		if err := in.w.Add(e); err != nil {
			return err
		}
		in.at[d.off] = e.ID
		stack = append(stack, resolvedObject{d.off, e.ID, top.kind, data, top.depth + 1})
	}
	return nil
}

// next removes and returns one of the deltas that wait for s.
func (in *receiver) next(s resolvedObject) (d pendingDelta, ok bool) {
	if d, ok = pop(in.byOffset, s.off); ok {
		return d, true
	}
	return pop(in.byID, s.id)
}

func pop[K comparable](deltas map[K][]pendingDelta, key K) (d pendingDelta, ok bool) {
	ds := deltas[key]
	switch len(ds) {
	case 0:
		return d, false
	case 1:
		delete(deltas, key)
	default:
		deltas[key] = ds[1:]
	}
	return ds[0], true
}

// read returns an object of the pack that is being written.
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
		if w.err = writeError(w.flush()); w.err != nil {
			return 0, nil, w.err
		}
	}
	return (&index{}).read(w.f, off, w.size)
}
