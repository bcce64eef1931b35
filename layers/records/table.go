package records

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/memvcs/mem/layers/knowledge/concepts"
	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/knowledge/permanent"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/lineage"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/lane"
)

// Bodies returns the decoders of all kinds of this version. They check a lane before it is fetched
// ([refs.Options.Body]) and records when they are read, so that folds only see valid bodies.
var Bodies = sync.OnceValue(func() Table {
	return Table{
		KindProject:     Of[ProjectBody](nil), // a name is cleaned where it is shown
		KindPath:        Of(func(b *PathBody) error { return wantProjects(b.Project) }),
		KindSession:     Of(checkSnapshot),
		KindVersion:     Of(checkVersionBody),
		KindComposition: Of(checkComposition),
		KindSet:         Of(checkSet),
		KindName:        Of(checkName),
		KindRelation:    Of(checkRelation),
		KindKeepit:      Of(checkOverride),
		KindUse:         Of(checkUse),
		KindRevoke:      Of(checkRevoke),
		KindCost:        Of[CostBody](nil),
		KindPeer:        Of(func(b *PeerBody) error { return ParseDigits(b.Device, 32) }),
		KindShare:       Of(func(b *ShareBody) error { return wantProjects(b.From, b.With) }),
		KindPurge:       Of(checkPurge),
		KindNote:        Of(checkNote),

		facts.KindExchange:  Of(checkExchange),
		facts.KindDistilled: Of(func(b *facts.Distilled) error { return wantSessions(b.Session) }),
		facts.KindJudgement: Of(checkJudgement),

		concepts.Kind:       Of(checkConcept),
		concepts.KindAssign: Of(checkAssigned),
		concepts.KindSet:    Of(func(b *concepts.Change) error { return wantRecord(b.Concept) }),

		permanent.Kind:        Of(checkRule),
		permanent.KindAct:     Of(checkAct),
		permanent.KindReflect: Of(func(b *permanent.Reflection) error { return wantSessions(b.Sessions...) }),
	}
})

// CheckBody checks the body of a record with [Bodies]. The error wraps [ErrMalformed].
func CheckBody(kind string, body json.RawMessage) error { return Bodies().Check(kind, body) }

func wantSessions(ids ...string) error {
	for _, id := range ids {
		if _, err := ParseSession(id); err != nil {
			return err
		}
	}
	return nil
}

func wantProjects(ids ...refs.Project) error {
	for _, id := range ids {
		if _, err := lane.ParseProject(string(id)); err != nil {
			return err
		}
	}
	return nil
}

// wantRecord checks the name of a record.
func wantRecord(name string) error { return ParseDigits(name, 2*objects.Size) }

// wantHashes checks that no hash is zero.
func wantHashes(all ...objects.Hash) error {
	for _, h := range all {
		if h.IsZero() {
			return errors.New("a zero hash")
		}
	}
	return nil
}

// wantSpan checks the offsets of a text.
func wantSpan(start, end int) error {
	if start > end {
		return fmt.Errorf("a text from %d to %d", start, end)
	}
	return nil
}

func checkSnapshot(b *Snapshot) error {
	if err := wantSessions(b.Session); err != nil {
		return err
	}
	for _, id := range []string{b.Parent, b.ForkOf} {
		if id != "" {
			if err := wantSessions(id); err != nil {
				return err
			}
		}
	}
	if err := wantHashes(b.Original); err != nil {
		return err
	}
	switch {
	case b.Scan.Closed > b.Size:
		return fmt.Errorf("%d bytes read of %d", b.Scan.Closed, b.Size)
	case b.Scan.TitleFrom > transcript.FromUser:
		return fmt.Errorf("a title of the kind %d", b.Scan.TitleFrom)
	}
	for _, f := range b.Files {
		if _, err := ParseFileName(f.Name); err != nil {
			return err
		}
		if err := wantHashes(f.Hash); err != nil {
			return err
		}
	}
	for _, m := range b.Markers {
		if err := wantSpan(m.Start, m.End); err != nil {
			return err
		}
	}
	return nil
}

func wantDerivation(d lineage.Derivation) error {
	if err := wantHashes(append(append([]objects.Hash{d.Output}, d.Inputs...), d.Witnesses...)...); err != nil {
		return err
	}
	if d.Recipe.Step == "" {
		return errors.New("a recipe without a step")
	}
	return nil
}

func checkVersionBody(b *Version) error {
	if err := wantSessions(b.Session); err != nil {
		return err
	}
	if _, err := ParseLabel(b.Label); err != nil {
		return err
	}
	for _, name := range []string{b.Source, b.Since} {
		label, device, other := strings.Cut(name, "~") // of another device
		if _, err := ParseLabel(label); name != "" && err != nil {
			return err
		}
		if other && (device == "" || strings.Trim(device, "0123456789abcdef") != "") {
			return fmt.Errorf("%.80q is not a label of another device", name)
		}
	}
	if err := wantDerivation(b.Derivation); err != nil {
		return err
	}
	if !b.readable() {
		return nil // a plan of another version
	}
	plan, err := b.Plan()
	if err == nil {
		err = Bound(&plan)
	}
	if err == nil {
		_, err = b.Compression()
	}
	return err
}

func checkComposition(b *Composition) error {
	if _, err := ParseName(b.Name); err != nil {
		return err
	}
	if err := wantDerivation(b.Derivation); err != nil {
		return err
	}
	if len(b.Parts) > len(b.Derivation.Inputs) {
		return fmt.Errorf("%d parts of %d inputs", len(b.Parts), len(b.Derivation.Inputs))
	}
	for _, p := range b.Parts {
		if err := errors.Join(wantProjects(p.Project), wantSessions(p.Session)); err != nil {
			return err
		}
		if _, err := ParseTitle(p.Reason); err != nil && p.Reason != "" {
			return err
		}
	}
	return nil
}

func checkSet(b *SetBody) error { return ParseTarget(b.Target) }

func checkName(b *NameBody) error {
	err := ParseTarget(b.Target)
	switch {
	case err != nil:
	case b.Field == FieldTag:
		_, err = ParseName(b.Name)
	case b.Field == FieldTitle && !b.Removed:
		_, err = ParseTitle(b.Name)
	}
	return err
}

func checkOverride(b *Override) error {
	return errors.Join(wantSessions(b.Session), wantSpan(b.Start, b.End))
}

func checkUse(b *Use) error {
	for _, t := range b.Targets {
		if err := ParseTarget(t); err != nil {
			return err
		}
	}
	return wantSessions(b.By)
}

func checkRevoke(b *RevokeBody) error {
	if b.Kind == SessionSource {
		return wantSessions(b.Name)
	}
	if b.Kind == "" || b.Name == "" || len(b.Name) > maxSource {
		return fmt.Errorf("%.80q is not a source", b.Name)
	}
	return nil
}

// maxSource is the maximal length of the name of a tool or host.
const maxSource = 4096

// lastLabel is the maximal version number in a purge. The numbers after it must still be valid labels.
const lastLabel = 99_999_999

func checkPurge(b *Purge) error {
	const digits = 32
	for _, key := range b.Sessions {
		if err := ParseDigits(key, digits); err != nil {
			return err
		}
	}
	for _, p := range b.Passages {
		if err := ParseDigits(p.Session, digits); err != nil {
			return err
		}
	}
	for _, l := range b.Labels {
		if err := errors.Join(ParseDigits(l.Session, digits), ParseDigits(l.Device, digits)); err != nil {
			return err
		}
		if l.Last > lastLabel {
			return fmt.Errorf("the number %d of a version", l.Last)
		}
	}
	return nil
}

func checkExchange(b *facts.Exchange) error {
	if b.Session != "" {
		if err := wantSessions(b.Session); err != nil {
			return err
		}
	}
	return errors.Join(wantSpan(b.From, b.To), wantSpan(b.L1Range[0], b.L1Range[1]))
}

func checkJudgement(b *facts.Judgement) error {
	if b.Says == "" {
		return errors.New("empty")
	}
	return wantHashes(b.Fact)
}

func checkConcept(b *concepts.Definition) error {
	_, err := ParseConceptLabel(b.Label)
	return err
}

func checkAssigned(b *concepts.Assignment) error {
	if b.Concept != "" {
		if err := wantRecord(b.Concept); err != nil {
			return err
		}
	}
	return ParseTarget(b.Member)
}

func checkRule(b *permanent.Definition) error {
	if b.Type == "" || b.Text == "" {
		return errors.New("empty")
	}
	for _, w := range b.Quotes {
		if err := wantSessions(w.Session); err != nil {
			return err
		}
	}
	return nil
}

func checkAct(b *permanent.Act) error {
	if b.Rule == "" || b.Act == "" {
		return errors.New("empty")
	}
	if b.Quote != nil {
		return wantSessions(b.Quote.Session)
	}
	return nil
}
