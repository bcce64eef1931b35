package facts

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/objects"
)

// Fold computes the set from records in their order: a later record overrides an earlier one about the same thing.
func Fold(records []Record) (*Set, error) {
	f := folder{
		exchanges: map[objects.Hash]int{}, facts: map[objects.Hash]location{}, judgements: map[judgementKey]stated{},
		set: &Set{through: map[string][2]int{}, where: map[string][2]int{}},
	}
	err := errors.Join(Each(records, KindExchange, f.addExchange), Each(records, KindDistilled, f.distilled),
		Each(records, KindJudgement, func(n int, r Record, j Judgement) { f.judgements[judgementKey{j.Fact, j.Says}] = stated{j, n, r.Time} }))
	if err != nil {
		return nil, err
	}
	f.assignIDs()
	f.applyJudgements()
	f.judgeSummaries()
	f.resolveDuplicates()
	return f.set, nil
}

// distilled notes how far the last generation of a session was distilled, also as that of its branch on the device.
func (f *folder) distilled(_ int, r Record, d Distilled) {
	for _, id := range []string{d.Session, d.Session + "~" + r.Device[:min(8, len(r.Device))]} {
		have, at := f.set.through[id], [2]int{d.Generation, d.Through}
		if slices.Compare(at[:], have[:]) > 0 {
			f.set.through[id] = at
		}
	}
}

type folder struct {
	set        *Set
	exchanges  map[objects.Hash]int
	facts      map[objects.Hash]location
	judgements map[judgementKey]stated
}

// A location is the place of a fact in the set, with the indexes of the first and last record that state it.
type location struct {
	at     [2]int
	first  int
	record int
}

type judgementKey struct {
	fact objects.Hash
	says string
}

// A stated is the last judgement of its kind on a fact, with the index and the time of its record.
type stated struct {
	Judgement
	record int
	time   time.Time
}

// addExchange adds an exchange and its facts; known ones keep the place and the content of their first record.
func (f *folder) addExchange(n int, r Record, x Exchange) {
	x = x.Bare()
	list := x.Facts
	x.Facts, x.Device, x.key = nil, r.Device, x.Key()
	if x.Summary != "" {
		x.Verdict = Stated
	}
	i, known := f.exchanges[x.key]
	if !known {
		i = len(f.set.Exchanges)
		f.exchanges[x.key] = i
		f.set.Exchanges = append(f.set.Exchanges, x)
	}
	home := &f.set.Exchanges[i]
	for _, fact := range list {
		fact.Session, fact.Device, fact.Verdict = x.Session, r.Device, storedVerdict(fact)
		fact.Extracted, fact.key = r.Time, fact.Key()
		if was, ok := f.facts[fact.key]; ok {
			was.record = n
			f.facts[fact.key] = was
			continue
		}
		f.facts[fact.key] = location{[2]int{i, len(home.Facts)}, n, n}
		home.Facts = append(home.Facts, fact)
	}
}

// storedVerdict returns the verdict on a fact before any judgement: nobody states that a fact is verified.
func storedVerdict(f Fact) Verdict {
	switch {
	case f.Verdict == Rejected:
		return Rejected
	case len(f.Evidence) == 0:
		return Stated
	}
	return Quoted
}

// at returns the fact with a key, nil if there is none.
func (f *folder) at(key objects.Hash) *Fact {
	l, ok := f.facts[key]
	if !ok {
		return nil
	}
	return &f.set.Exchanges[l.at[0]].Facts[l.at[1]]
}

// assignIDs gives exchanges and facts their IDs: the shortest unique prefix of the key, at least idLength digits.
func (f *folder) assignIDs() {
	short := shortener(maps.Keys(f.exchanges))
	for i := range f.set.Exchanges {
		f.set.Exchanges[i].ID = "e:" + short(f.set.Exchanges[i].key)
	}
	short = shortener(maps.Keys(f.facts))
	for i := range f.set.Exchanges {
		x := &f.set.Exchanges[i]
		for k := range x.Facts {
			x.Facts[k].ID, x.Facts[k].Exchange = "f:"+short(x.Facts[k].key), x.ID
			f.set.where[x.Facts[k].ID] = [2]int{i, k}
		}
	}
}

// shortener returns a function that shortens each of the keys to its shortest unique prefix.
func shortener(keys func(func(objects.Hash) bool)) func(objects.Hash) string {
	var all []string
	for k := range keys {
		all = append(all, k.String())
	}
	slices.Sort(all)
	return func(k objects.Hash) string {
		s := k.String()
		i, _ := slices.BinarySearch(all, s)
		n := idLength
		for _, near := range []int{i - 1, i + 1} {
			if near < 0 || near >= len(all) {
				continue
			}
			for n < len(s) && strings.HasPrefix(all[near], s[:n]) {
				n++
			}
		}
		return s[:n]
	}
}

// applyJudgements applies the judgements. A removed fact is live again if a later record states it.
func (f *folder) applyJudgements() {
	for k, l := range f.facts {
		j := f.judgements[judgementKey{k, Removes}]
		f.at(k).Removed = j.Value && j.record > l.record
	}
	for k := range f.facts {
		x := f.at(k)
		holds := func(says string) (by string, ok bool) {
			j := f.judgements[judgementKey{k, says}]
			switch other := f.at(j.By); {
			case !j.Value:
				return "", false
			case j.By.IsZero():
				return "", true
			case other == nil:
				return "f:" + j.By.String()[:idLength], true
			case other.Removed:
				return "", false
			default:
				return other.ID, true
			}
		}
		if j := f.judgements[judgementKey{k, Describes}]; j.Value {
			x.Keywords, x.Files = j.Keywords, j.Files
		}
		x.SupersededBy, _ = holds(Supersedes)
		x.RefutedBy, x.Refuted = holds(Refutes)
		if j := f.judgements[judgementKey{k, Verifies}]; x.Verdict != Rejected && j.Value {
			x.Verdict, x.VerifiedBy, x.VerifiedAt = Verified, j.Asked, j.time
		}
		if _, x.Confirmed = holds(Confirms); x.Confirmed {
			x.Trust, x.Verdict, x.VerifiedBy = User, Verified, User.String()
			x.VerifiedAt = f.judgements[judgementKey{k, Confirms}].time
		}
		if x.ResolvedBy, x.Resolved = holds(Resolves); x.Resolved {
			x.Resolution = f.resolution(f.judgements[judgementKey{k, Resolves}])
		}
	}
}

// judgeSummaries applies the judgements on the summaries of exchanges.
func (f *folder) judgeSummaries() {
	for k, i := range f.exchanges {
		x := &f.set.Exchanges[i]
		yes, no := f.judgements[judgementKey{k, Verifies}], f.judgements[judgementKey{k, Removes}]
		switch {
		case no.Value && (!yes.Value || no.record > yes.record):
			x.written = &[2]string{x.Summary, x.Details}
			x.Summary, x.Details, x.Verdict = "", "", ""
		case yes.Value && x.Verdict != "":
			x.Verdict, x.VerifiedBy, x.VerifiedAt = Verified, yes.Asked, yes.time
			if yes.Text != "" {
				x.written = &[2]string{x.Summary, x.Details}
				x.Summary, x.Details = yes.Text, ""
			}
		}
	}
}

// resolution returns how an issue was resolved: the text of the solution, or else the stated reason.
func (f *folder) resolution(j stated) string {
	if solution := f.at(j.By); solution != nil {
		return solution.Text
	}
	return cmp.Or(tokens.OneLine(j.Reason, maxText), "stated to be resolved")
}
