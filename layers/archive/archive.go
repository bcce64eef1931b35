// Package archive reads and writes memory archives: files that transfer lanes between memories without a remote.
// docs/formats.md describes the format.
//
// An archive is trusted as little as a remote: [Unpack] makes a bare git repository of it, and the memory fetches
// from there with all the checks of a fetch.
package archive

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/memvcs/mem/objects"
)

// Format and Version identify the format in the manifest.
const (
	Format  = "mem/archive"
	Version = 1
)

// manifestName is the first file of an archive. It lists the others.
const manifestName = "manifest.json"

const (
	maxManifest = 64 << 20
	maxFiles    = 1 << 16
	maxLanes    = 40_000    // as on a remote
	minUnpacked = 64 << 20  // bytes that may always be unpacked
	unpackRatio = 100       // bytes that may be unpacked in addition for each byte of the archive
	maxWindow   = 128 << 20 // memory of a decoder
)

// ErrDamaged reports that an archive was changed after it was written. Nothing is imported from such an archive.
var ErrDamaged = errors.New("the archive is damaged or cut short")

// ErrNewer reports an archive written by a later version of mem.
var ErrNewer = errors.New("a later version of mem wrote the archive")

// A Manifest lists the content of an archive.
type Manifest struct {
	Format    string    `json:"format"`
	Version   int       `json:"version"`
	Created   time.Time `json:"created"`
	Device    string    `json:"device"`    // name of the device that wrote it
	Originals bool      `json:"originals"` // it has the exact bytes of the sessions, secrets included
	Projects  []Project `json:"projects"`
	Lanes     []Lane    `json:"lanes"`
	Files     []File    `json:"files"`
}

// A Project is a project in an archive.
type Project struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// A Lane is a branch of the repository in an archive.
type Lane struct {
	Ref    string `json:"ref"`
	Commit string `json:"commit"`
}

// A File is a file of the repository in an archive.
type File struct {
	Name string       `json:"name"` // see isPackName
	Size int64        `json:"size"` // bytes
	Hash objects.Hash `json:"blake3"`
}

// packDir is where the files of an archive are.
const packDir = "objects/pack/"

// isPackName reports whether name is objects/pack/pack-<40 hexadecimal digits>.pack or .idx. An archive has no other
// files.
func isPackName(name string) bool {
	id, ok := strings.CutPrefix(name, packDir+"pack-")
	id, isPack := strings.CutSuffix(id, ".pack")
	id, isIndex := strings.CutSuffix(id, ".idx")
	return ok && isPack != isIndex && len(id) == 40 && strings.Trim(id, "0123456789abcdef") == ""
}

// magic is the start of a zstd frame (RFC 8878, 3.1.1).
var magic = []byte{0x28, 0xb5, 0x2f, 0xfd}

// Is reports whether path is a regular file that starts like an archive.
func Is(path string) (bool, error) {
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	head := make([]byte, len(magic))
	if _, err := io.ReadFull(f, head); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return false, nil
	} else if err != nil {
		return false, fmt.Errorf("read %s: %w", path, err)
	}
	return bytes.Equal(head, magic), nil
}
