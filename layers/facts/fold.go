package facts

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/memvcs/mem/objects"
)

// Fold makes a set of statements, which must be in their order: of two that speak of the same thing the later
// one wins. What a device that is not trusted says of a fact counts only if no trusted one states the fact; nil
// trusts all.
func Fold(records []Record, trusted func(device string) bool) (*Set, error) {
	if trusted == nil {
		trusted = func(string) bool { return true }
	}
	f := folder{
		trusted:   trusted,
		exchanges: map[objects.Hash]int{}, facts: map[objects.Hash]stated{}, said: map[judged]judgement{},
		set: &Set{Through: map[string]int{}, generation: map[string]int{}, where: map[string][2]int{}},
	}
	witnesses := map[objects.Hash]bool{}
	for n, r := range records {
		var err error
		switch r.Kind {
		case KindExchange:
			var x Exchange
			if err = json.Unmarshal(r.Body, &x); err == nil {
				f.exchange(n, r, x)
			}
		case KindDistilled:
			var d Distilled
			if err = json.Unmarshal(r.Body, &d); err == nil {
				if trusted(r.Device) { // else such a device could say that nothing, or all, of the user's session was looked at
					f.set.distilled(d)
				}
				for _, w := range d.Witnesses {
					witnesses[w] = true
				}
			}
		case KindJudgement:
			var j Judgement
			if err = json.Unmarshal(r.Body, &j); err == nil {
				f.judgement(judgement{j, n, trusted(r.Device)})
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%s of device %.8s: %w", r.Kind, r.Device, err)
		}
	}
	f.set.Witnesses = slices.SortedFunc(maps.Keys(witnesses), objects.Hash.Compare)
	f.names()
	f.judge()
	f.closeTwins()
	return f.set, nil
}

func (s *Set) distilled(d Distilled) {
	have, ok := s.generation[d.Session]
	if !ok || d.Generation > have {
		s.generation[d.Session], s.Through[d.Session] = d.Generation, 0
	}
	if d.Generation == s.generation[d.Session] {
		s.Through[d.Session] = max(s.Through[d.Session], d.Through)
	}
}

type folder struct {
	trusted   func(string) bool
	set       *Set
	exchanges map[objects.Hash]int
	facts     map[objects.Hash]stated
	said      map[judged]judgement
}

// stated is where a fact is, and which records stated it first and last.
type stated struct {
	at     [2]int
	first  int
	record int
}

type judged struct {
	fact objects.Hash
	says string
}

type judgement struct {
	Judgement
	record  int
	trusted bool
}

// judgement keeps the last word on a fact; that of a device that is not trusted never replaces one of a device that is.
func (f *folder) judgement(j judgement) {
	at := judged{j.Fact, j.Says}
	if was, ok := f.said[at]; !ok || j.trusted || !was.trusted {
		f.said[at] = j
	}
}

// exchange adds an exchange with the facts in it; what is known already stays where it was stated first.
func (f *folder) exchange(n int, r Record, x Exchange) {
	list, device := x.Facts, r.Device
	x = x.Bare()
	x.Facts, x.Device, x.key = nil, device, x.Key()
	i, known := f.exchanges[x.key]
	if !known {
		i = len(f.set.Exchanges)
		f.exchanges[x.key] = i
		f.set.Exchanges = append(f.set.Exchanges, x)
	}
	if was := &f.set.Exchanges[i]; known && !f.trusted(was.Device) && f.trusted(device) {
		x.Facts = was.Facts
		*was = x
	}
	for _, fact := range (Exchange{Facts: list}).Bare().Facts {
		fact.Session, fact.Device, fact.Trust = x.Session, device, vouched(fact.Trust, fact.Verdict)
		fact.key = fact.Key()
		if was, ok := f.facts[fact.key]; ok {
			f.facts[fact.key] = stated{was.at, was.first, n}
			if have := &f.set.Exchanges[was.at[0]].Facts[was.at[1]]; !f.trusted(have.Device) && f.trusted(device) {
				have.Device, have.Verdict, have.Reason, have.Trust = device, fact.Verdict, fact.Reason, fact.Trust
			}
			continue
		}
		home := &f.set.Exchanges[i]
		f.facts[fact.key] = stated{[2]int{i, len(home.Facts)}, n, n}
		fact.Extracted = r.Time
		home.Facts = append(home.Facts, fact)
	}
}

// names gives exchanges and facts their IDs: the shortest start of the key, from 8 digits, that no other has.
func (f *folder) names() {
	short := namer(maps.Keys(f.exchanges))
	for i := range f.set.Exchanges {
		f.set.Exchanges[i].ID = "e:" + short(f.set.Exchanges[i].key)
	}
	short = namer(maps.Keys(f.facts))
	for i := range f.set.Exchanges {
		x := &f.set.Exchanges[i]
		for k := range x.Facts {
			x.Facts[k].ID, x.Facts[k].Exchange = "f:"+short(x.Facts[k].key), x.ID
			f.set.where[x.Facts[k].ID] = [2]int{i, k}
		}
	}
}

// namer returns what shortens keys.
func namer(keys func(func(objects.Hash) bool)) func(objects.Hash) string {
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

// judge carries out what was said about facts. A fact that was stated again later is not removed.
func (f *folder) judge() {
	fact := func(k objects.Hash) *Fact {
		s, ok := f.facts[k]
		if !ok {
			return nil
		}
		return &f.set.Exchanges[s.at[0]].Facts[s.at[1]]
	}
	for k, s := range f.facts {
		j, ok := f.said[judged{k, Removes}]
		fact(k).Removed = ok && j.Value && j.record > s.record && f.counts(j, fact(k))
	}
	for k := range f.facts {
		x := fact(k)
		holds := func(says string) (by string, ok bool) {
			j, said := f.said[judged{k, says}]
			if !said || !j.Value || !f.counts(j, x) {
				return "", false
			}
			if j.By.IsZero() {
				return "", true
			}
			if other := fact(j.By); other != nil {
				if other.Removed {
					return "", false
				}
				return other.ID, true
			}
			return "f:" + j.By.String()[:idLength], true
		}
		if j, said := f.said[judged{k, Describes}]; said && j.Value && f.counts(j, x) {
			x.Keywords, x.Files = j.Keywords, j.Files
		}
		x.SupersededBy, _ = holds(Supersedes)
		x.RefutedBy, x.Refuted = holds(Refutes)
		if _, x.Confirmed = holds(Confirms); x.Confirmed {
			x.Trust = User
		}
		if x.ResolvedBy, x.Resolved = holds(Resolves); x.Resolved {
			x.Resolution = f.resolution(k, fact(f.said[judged{k, Resolves}].By))
		}
	}
}

// resolution says how an issue was resolved: by the words of the solution, else by the reason that somebody gave.
func (f *folder) resolution(issue objects.Hash, solution *Fact) string {
	if solution != nil {
		return solution.Text
	}
	if why := oneSpace(f.said[judged{issue, Resolves}].Reason); why != "" {
		return cut(why, longestText)
	}
	return "stated to be resolved"
}

// counts reports whether a judgement may speak of a fact.
func (f *folder) counts(j judgement, x *Fact) bool { return j.trusted || !f.trusted(x.Device) }
