package capture

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/memvcs/mem/layers/transcript"
)

// A CheckedOut lists the files and directories that a checkout created.
type CheckedOut struct {
	Files   []string
	Created []string // directories, the outermost first
}

// Marshal returns v as the body of a record.
func Marshal(v any) (json.RawMessage, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return json.RawMessage(strings.TrimSpace(b.String())), err
}

// ListOptions say what to list.
type ListOptions struct {
	Claude    string // the configuration directory of Claude Code; "" looks at no files
	Dir       string // the working directory, whose files count as the project's too
	Subagents bool
	Removed   bool
	Revoked   bool
	Forgotten bool // the files of sessions that are not taken in again, as untracked ones
	// Unreadable is told of what of Claude Code's files cannot be read, and the list is that of the rest. Without
	// it that ends the listing.
	Unreadable func(error) error
}

func (o ListOptions) NoteUnreadable(err error) error {
	if o.Unreadable == nil {
		return err
	}
	return o.Unreadable(err)
}

// firstTitle looks for the title of a session at the start of its file.
func firstTitle(path string) string {
	f, _, err := OpenSource(path)
	if err != nil {
		return "" // listing goes on; adding it will say what is wrong
	}
	defer f.Close()
	sc := transcript.NewScanner(transcript.Carry{}, func([]byte) [32]byte { return [32]byte{} })
	buf := make([]byte, 64<<10)
	n, err := f.Read(buf)
	if err != nil {
		return ""
	}
	sc.Write(buf[:n])
	return sc.Summary().Title
}

// clientNameMax is how long a name that [ClientDir] makes is without its hash.
const clientNameMax = 200

// ClientDir returns the name of the directory in which Claude Code keeps the sessions of the working
// directory dir: each UTF-16 unit that is no ASCII letter or digit becomes '-'; a name longer than 200 is
// cut there and gets a hash of the whole path. The name cannot be turned back.
func ClientDir(dir string) string {
	units := utf16.Encode([]rune(dir))
	name := make([]byte, len(units))
	var h int32
	for i, u := range units {
		name[i] = '-'
		if u < 128 && (u >= 'a' && u <= 'z' || u >= 'A' && u <= 'Z' || u >= '0' && u <= '9') {
			name[i] = byte(u)
		}
		h = h*31 + int32(u)
	}
	if len(name) <= clientNameMax {
		return string(name)
	}
	abs := int64(h)
	if abs < 0 {
		abs = -abs
	}
	return string(name[:clientNameMax]) + "-" + strconv.FormatInt(abs, 36)
}
