package refstest

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
)

// A ForgedLane is a lane of an unknown device with a valid signature. Its content is not checked and may break any
// rule.
type ForgedLane struct {
	Project, Device, Name string
	Key                   ed25519.PrivateKey
	Time                  time.Time
	Clock                 uint64
	Subject               string
	Records               []string
	Files                 map[string]Entry // by path
}

// An Entry is an entry of a tree, valid or not.
type Entry struct {
	Mode, Name string
	ID         pack.ID
}

// Key is the name by which git sorts an entry.
func (e Entry) Key() string {
	if e.Mode == "40000" {
		return e.Name + "/"
	}
	return e.Name
}

// Tree returns the content of a tree. It neither sorts nor checks the entries.
func Tree(es ...Entry) []byte {
	var b bytes.Buffer
	for _, e := range es {
		fmt.Fprintf(&b, "%s %s\x00%s", e.Mode, e.Name, e.ID[:])
	}
	return b.Bytes()
}

// Fan returns the path of an object or a record in a lane's tree: docs/formats.md.
func Fan(dir, hash, suffix string) string {
	return dir + "/" + hash[:1] + "/" + hash[1:2] + "/" + hash[2:3] + "/" + hash[3:4] + "/" + hash[4:] + suffix
}

// Put stores a git object.
type Put func(pack.Kind, []byte) (pack.ID, error)

// AddDevice adds the record of the device itself, with its key.
func (l *ForgedLane) AddDevice() {
	public := base64.StdEncoding.EncodeToString(sshFields([]byte("ssh-ed25519"), l.Key.Public().(ed25519.PublicKey)))
	l.AddRecord("device", 1, fmt.Appendf(nil, `{"id":%q,"name":%q,"key":"ssh-ed25519 %s"}`, l.Device, l.Name, public))
}

// AddRecord adds a record of a kind with its Lamport clock and body.
func (l *ForgedLane) AddRecord(kind string, clock uint64, body []byte) {
	b := fmt.Appendf(nil, `{"kind":%q,"device":%q,"lamport":%d,"time":%q,"body":%s}`+"\n", kind, l.Device, clock,
		l.Time.UTC().Format(time.RFC3339), body)
	l.Records = append(l.Records, string(b))
}

// Ref is the branch of the lane.
func (l *ForgedLane) Ref() string { return "refs/heads/p/" + l.Project + "/" + l.Device }

// Write stores the lane as one commit, signed by its device, and returns the commit.
func (l *ForgedLane) Write(put Put) (pack.ID, error) {
	if l.Files == nil {
		l.Files = map[string]Entry{}
	}
	id, err := put(pack.Blob, []byte("mem 1\n"))
	if err != nil {
		return id, err
	}
	l.Files["format"] = Entry{"100644", "", id}
	for _, r := range l.Records {
		if id, err = put(pack.Blob, []byte(r)); err != nil {
			return id, err
		}
		l.Files[Fan("records", objects.Sum([]byte(r)).String(), ".json")] = Entry{"100644", "", id}
	}
	tree, err := writeTrees(l.Files, put)
	if err != nil {
		return tree, err
	}
	c := gitstore.Commit{Tree: tree, Name: l.Name, Email: l.Device + "@mem.invalid", Time: l.Time,
		Message: fmt.Sprintf("%s\n\nMem-Op: add\nMem-Lamport: %d\n", l.Subject, l.Clock)}
	c.Signature = SignSSH(l.Key.Seed(), c.Payload())
	b, err := gitstore.EncodeCommit(c)
	if err != nil {
		return tree, err
	}
	return put(pack.Commit, b)
}

// writeTrees stores the trees of files, by their paths.
func writeTrees(files map[string]Entry, put Put) (pack.ID, error) {
	var es []Entry
	below := map[string]map[string]Entry{}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		name, rest, deeper := strings.Cut(path, "/")
		if _, taken := files[name]; deeper && taken {
			continue // a path cannot be both a file and a directory
		}
		if !deeper {
			es = append(es, Entry{files[path].Mode, name, files[path].ID})
			continue
		}
		if below[name] == nil {
			below[name] = map[string]Entry{}
		}
		below[name][rest] = files[path]
	}
	for _, name := range slices.Sorted(maps.Keys(below)) {
		id, err := writeTrees(below[name], put)
		if err != nil {
			return id, err
		}
		es = append(es, Entry{"40000", name, id})
	}
	slices.SortFunc(es, func(a, b Entry) int { return strings.Compare(a.Key(), b.Key()) })
	return put(pack.Tree, Tree(es...))
}

// sshFields encodes fields as SSH sends them: the length before each.
func sshFields(fields ...[]byte) (b []byte) {
	for _, f := range fields {
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(f))), f...)
	}
	return b
}

// SignSSH signs as OpenSSH does for git (PROTOCOL.sshsig).
func SignSSH(seed, payload []byte) string {
	key, sum := ed25519.NewKeyFromSeed(seed), sha512.Sum512(payload)
	kind, space, hash := []byte("ssh-ed25519"), []byte("git"), []byte("sha512")
	sig := ed25519.Sign(key, append([]byte("SSHSIG"), sshFields(space, nil, hash, sum[:])...))
	blob := append([]byte("SSHSIG\x00\x00\x00\x01"), sshFields(sshFields(kind, key.Public().(ed25519.PublicKey)), space,
		nil, hash, sshFields(kind, sig))...)
	var b strings.Builder
	for line := range slices.Chunk([]byte(base64.StdEncoding.EncodeToString(blob)), 70) {
		b.WriteString(string(line) + "\n")
	}
	return "-----BEGIN SSH SIGNATURE-----\n" + b.String() + "-----END SSH SIGNATURE-----\n"
}
