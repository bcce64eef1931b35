package sealed

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/lane"
	"github.com/memvcs/mem/refs/remote"
)

// Options contains the name of this device for an encrypted remote, and limits.
type Options struct {
	Name    string                   // of the device, for people
	Revoked func(device string) bool // devices that lose access at the next push, decided by this device; may be nil
	Rand    io.Reader
	Limits  pack.Limits // on what is downloaded
}

// A Vault is one command's access to an encrypted remote. It is not safe for concurrent use.
type Vault struct {
	repo       *refs.Repo
	client     *remote.Client
	id         string
	o          Options
	st         state
	downloaded *refs.Scratch // downloaded objects; nil before the first download
	lanes      map[string]*remoteLane
	broken     []Broken
}

// A remoteLane is the lane of a branch of the remote.
type remoteLane struct {
	branch
	newCommits []pack.ID // commits of the remote with new segments, oldest first
	complete   bool      // newCommits are all commits of the branch
}

// A Broken branch cannot be read. Lane is "" if its lane is unknown.
type Broken struct {
	Lane string
	Err  error
}

// Open returns the encrypted remote whose secret has the given id in the store. It does not contact the remote
// yet. The error wraps [ErrNoKey] if there is no such secret.
func Open(r *refs.Repo, c *remote.Client, id string, o Options) (*Vault, error) {
	b, err := r.Secret(id)
	if err != nil {
		return nil, err
	}
	st, err := parseState(b)
	if err != nil {
		return nil, err
	}
	return &Vault{repo: r, client: c, id: id, o: o, st: st}, nil
}

// Close deletes the downloaded data.
func (v *Vault) Close() error {
	if v.downloaded == nil {
		return nil
	}
	in := v.downloaded
	v.downloaded = nil
	return in.Close()
}

// Public reports whether anybody can read the remote.
func (v *Vault) Public(ctx context.Context) (bool, error) { return v.client.Public(ctx) }

// Keyring returns the last known keyring.
func (v *Vault) Keyring() Keyring { return v.st.Keyring }

// Broken returns the branches that could not be read, with the errors.
func (v *Vault) Broken() []Broken { return v.broken }

// Open connects to the remote. It downloads new segments to learn the tips of the lanes.
func (v *Vault) Open(ctx context.Context, svc remote.Service) (remote.Session, error) {
	inner, err := v.client.Open(ctx, svc)
	if err != nil {
		return nil, err
	}
	s := &session{v: v, inner: inner, service: svc}
	if err := s.load(ctx); err != nil {
		return nil, errors.Join(err, inner.Close())
	}
	return s, nil
}

// download fetches commits into the scratch repository, in the session s or a new one.
func (v *Vault) download(ctx context.Context, s remote.Session, want, have []pack.ID) (err error) {
	if v.downloaded == nil {
		if v.downloaded, err = v.repo.Scratch(ctx, "in-"+v.id); err != nil {
			return err
		}
	}
	if s == nil {
		if s, err = v.client.Open(ctx, remote.Upload); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.Close()) }()
	}
	slices.SortFunc(want, pack.Compare)
	want = slices.Compact(want)
	return remote.FetchAll(ctx, s, v.client.Open, want, func(s remote.Session, want []pack.ID) error {
		_, err := pack.Write(v.downloaded.PackDir(), "fetch", func(w *pack.Writer) error {
			_, err := s.Fetch(ctx, want, have, w, v.o.Limits)
			return err
		})
		return err
	})
}

// load reads the keyring and the branches of the remote.
func (s *session) load(ctx context.Context) error {
	v := s.v
	v.lanes, v.broken, s.branches = map[string]*remoteLane{}, nil, map[string]pack.ID{}
	for _, ref := range s.inner.Refs() {
		if ref.Name == keysRef {
			s.keyringTip = ref.ID
		} else if isBranch(ref.Name) {
			s.branches[ref.Name] = ref.ID
		}
	}
	if s.keyringTip.IsZero() {
		if v.st.Keyring.Number == 0 {
			return ErrNoKey
		}
		if len(s.branches) > 0 && s.service == remote.Upload {
			return fmt.Errorf("it was removed: %w", ErrKeyring)
		}
		// The remote may have been recreated: the next push restores everything.
	} else if err := s.loadKeyring(ctx); err != nil {
		return err
	}
	return s.loadBranches(ctx)
}

// isBranch reports whether a ref has the form of [Keyring.branch].
func isBranch(ref string) bool {
	name, ok := strings.CutPrefix(ref, "refs/heads/")
	return ok && len(name) == 32 && lane.IsHex(name)
}

// loadKeyring reads the keyring if it has changed. The next push replaces an outdated one; until then nothing is
// fetched from the remote.
func (s *session) loadKeyring(ctx context.Context) error {
	v := s.v
	if s.keyringTip.String() == v.st.KeyringAt {
		return nil
	}
	k, err := s.keyring(ctx)
	if err != nil {
		return err
	}
	switch err := k.checkSuccessor(v.st.Keyring); {
	case err == nil:
		return v.saveKeyring(ctx, k, s.keyringTip)
	case s.service == remote.Receive && k.Number < v.st.Keyring.Number && v.st.Keyring.checkSuccessor(k) == nil:
		s.outdated = true
		return nil
	default:
		return err
	}
}

func (s *session) keyring(ctx context.Context) (k Keyring, err error) {
	if err := s.v.download(ctx, nil, []pack.ID{s.keyringTip}, nil); err != nil {
		return k, err
	}
	files, _, err := readCommit(s.v.downloaded, s.keyringTip)
	if err != nil {
		return k, fmt.Errorf("keyring: %w", err)
	}
	if len(files) != 1 {
		return k, fmt.Errorf("keyring: %w: %d files", ErrTampered, len(files))
	}
	b, err := s.v.downloaded.Get(files[0], pack.Blob)
	if err != nil {
		return k, fmt.Errorf("keyring: %w", err)
	}
	k, err = openKeyring(b, s.v.st.Keys)
	if key, kerr := s.v.key(); errors.Is(err, ErrNoKey) && kerr == nil {
		err = &NotMemberError{Request{key, s.v.repo.Device().ID}}
	}
	return k, err
}

// readCommit returns the files of a commit of the remote, and its parent.
func readCommit(g *refs.Scratch, id pack.ID) (files []pack.ID, parent pack.ID, err error) {
	c, err := g.Commit(id)
	if err != nil {
		return nil, parent, err
	}
	es, err := g.Tree(c.Tree)
	if err != nil {
		return nil, parent, err
	}
	for i, e := range es {
		if e.Tree || e.Name != partName(i) {
			return nil, parent, fmt.Errorf("%w: a file %.40q", ErrTampered, e.Name)
		}
		files = append(files, e.ID)
	}
	return files, c.Parent, nil
}

// partName is the name of the i-th file of a commit.
func partName(i int) string { return fmt.Sprintf("%06d", i) }

// loadBranches reads the lanes and tips of branches: those of this device for a push, all for a fetch.
func (s *session) loadBranches(ctx context.Context) error {
	v := s.v
	wanted, err := s.wanted()
	if err != nil {
		return err
	}
	var unknown []string
	for _, name := range wanted {
		known, ok := v.st.Branches[name]
		if ok && (s.service == remote.Upload || known.At != s.branches[name].String()) {
			if ok, err = v.stored(known); err != nil {
				return err
			}
		}
		f := &remoteLane{}
		if ok {
			f.branch = known
		}
		v.lanes[name] = f
		if f.At != s.branches[name].String() {
			unknown = append(unknown, name)
		}
	}
	rewritten, err := s.follow(ctx, unknown)
	if err != nil {
		return err
	}
	for _, name := range rewritten { // or rolled back
		v.lanes[name] = &remoteLane{}
	}
	_, err = s.follow(ctx, rewritten)
	return err
}

// wanted returns the sorted names of the branches to read.
func (s *session) wanted() ([]string, error) {
	var names []string
	if s.service == remote.Upload {
		for name := range s.branches {
			names = append(names, name)
		}
		slices.Sort(names)
		return names, nil
	}
	own, err := s.v.ownLanes()
	if err != nil {
		return nil, err
	}
	for _, l := range own {
		if name := s.v.st.Keyring.branch(l.Ref()); !s.branches[name].IsZero() {
			names = append(names, name)
		}
	}
	return names, nil
}

// ownLanes returns the lanes that this device may push.
func (v *Vault) ownLanes() ([]refs.Lane, error) {
	lanes, err := v.repo.Lanes()
	if err != nil {
		return nil, err
	}
	raw, err := v.repo.OriginalLanes()
	if err != nil {
		return nil, err
	}
	selves, err := v.repo.OwnDevices()
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(append(lanes, raw...), func(l refs.Lane) bool { return !slices.Contains(selves, l.Device) }),
		nil
}

// stored reports whether the lane of a branch is in the store up to the branch's tip.
func (v *Vault) stored(b branch) (bool, error) {
	l, ok := lane.ParseRemoteRef(b.Lane)
	if l.Tip = b.tip(); !ok || l.Tip.IsZero() || b.at().IsZero() {
		return false, nil
	}
	return v.repo.Has(l)
}

// downloadBranches downloads the new commits of branches.
func (s *session) downloadBranches(ctx context.Context, names []string) error {
	if len(names) == 0 {
		return nil
	}
	var want, have []pack.ID
	for _, name := range names {
		want = append(want, s.branches[name])
		if at := s.v.lanes[name].at(); !at.IsZero() {
			have = append(have, at)
		}
	}
	inner := s.inner
	if s.service != remote.Upload || s.fetched {
		inner = nil
	}
	s.fetched = true
	return s.v.download(ctx, inner, want, have)
}

// follow reads the heads of new segments of branches. It records a branch with an error as broken and skips it. It
// returns the branches that do not continue their known position: they must be read from their start.
func (s *session) follow(ctx context.Context, names []string) (rewritten []string, err error) {
	v := s.v
	if err := s.downloadBranches(ctx, names); err != nil {
		return nil, err
	}
	for _, name := range names {
		was := v.lanes[name].branch
		f, err := v.walk(name, s.branches[name], was)
		switch {
		case err == nil:
			v.lanes[name] = f
		case errors.Is(err, pack.ErrNotFound) && was.At != "":
			rewritten = append(rewritten, name)
		default:
			delete(v.lanes, name)
			v.broken = append(v.broken, Broken{cmp.Or(f.Lane, was.Lane, v.st.Branches[name].Lane), err})
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return rewritten, nil
}

// maxSegments is the maximum number of segments of one branch.
const maxSegments = 5_000_000

// walk goes from a commit back to the known position of a branch, or to its start, and reads the heads from there on.
// It returns the new position.
func (v *Vault) walk(name string, tip pack.ID, was branch) (f *remoteLane, err error) {
	f = &remoteLane{branch: was}
	var news []pack.ID
	id, known := tip, was.at()
	for !id.IsZero() && id != known {
		if len(news) == maxSegments {
			return f, fmt.Errorf("more than %d segments: %w", maxSegments, pack.ErrTooLarge)
		}
		_, parent, err := readCommit(v.downloaded, id)
		if err != nil {
			return f, err
		}
		news, id = append(news, id), parent
	}
	if id.IsZero() {
		f.branch, f.complete = branch{}, true
	}
	for i, id := range slices.Backward(news) {
		h, _, err := v.segment(id)
		if err == nil {
			err = f.accept(h, name == v.st.Keyring.branch(h.Lane))
		}
		if err != nil {
			return f, fmt.Errorf("segment %d of %d: %w", len(news)-i, len(news), err)
		}
		f.At, f.Lane, f.Tip = id.String(), h.Lane, h.Tip
		f.newCommits = append(f.newCommits, id)
	}
	return f, nil
}

// accept returns an error unless a segment is a valid next one.
func (f *remoteLane) accept(h head, named bool) error {
	switch {
	case !named || f.Lane != "" && f.Lane != h.Lane:
		return fmt.Errorf("%w: it belongs to another branch", ErrTampered)
	case h.Previous != f.At || h.OldTip != f.Tip:
		f.Lane = h.Lane
		return fmt.Errorf("%w: it belongs elsewhere in the branch", ErrTampered)
	}
	return nil
}

// segment opens the segment of a downloaded commit.
func (v *Vault) segment(id pack.ID) (h head, in *bufio.Reader, err error) {
	files, _, err := readCommit(v.downloaded, id)
	if err != nil {
		return h, nil, err
	}
	epochs, err := v.st.Keyring.identities()
	if err != nil {
		return h, nil, err
	}
	return openSegment(&partReader{git: v.downloaded, files: files}, epochs)
}

// partReader reads the files of a segment one after the other.
type partReader struct {
	git   *refs.Scratch
	files []pack.ID
	rest  []byte // of the current file
}

func (p *partReader) Read(b []byte) (n int, err error) {
	for len(p.rest) == 0 {
		if len(p.files) == 0 {
			return 0, io.EOF
		}
		if p.rest, err = p.git.Get(p.files[0], pack.Blob); err != nil {
			return 0, err
		}
		p.files = p.files[1:]
	}
	n = copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}
