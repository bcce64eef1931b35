package hooks

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// A count is a file that grows by one byte for each use of a tool in a session. Its first bytes say at how many
// uses a capture is due, so that a hook with nothing to do reads no settings. It is not flushed to the disk:
// what a crash can cost is that a capture comes a few uses later.
//
// Where the byte was written is the number of the use, which is right with any number of hooks at once.
const countHead = 4 // three digits and a newline

func (w *World) countFile(session string) string {
	return filepath.Join(w.Store, "cache", "hooks", session+".count")
}

// count counts a use of a tool and reports whether a capture is due. The error wraps [fs.ErrNotExist] if the session
// has no count yet.
func (w *World) count(session string) (due bool, err error) {
	f, err := os.OpenFile(w.countFile(session), os.O_RDWR|os.O_APPEND|noFollow, 0)
	if err != nil {
		return false, err
	}
	defer f.Close()
	var head [countHead]byte
	if _, err := f.ReadAt(head[:], 0); err != nil {
		return false, fmt.Errorf("count: %w", err)
	}
	every, err := strconv.Atoi(string(head[:countHead-1]))
	if err != nil || every < 1 {
		return false, errors.New("count: garbled")
	}
	if _, err := f.Write([]byte{'.'}); err != nil {
		return false, fmt.Errorf("count: %w", cause(err))
	}
	at, err := f.Seek(0, io.SeekCurrent)
	return err == nil && (at-countHead)%int64(every) == 0, err
}

// recount makes the count of a session anew, at the uses that were counted so far.
func (w *World) recount(session string, every int) error {
	file := w.countFile(session)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return cause(err)
	}
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE|noFollow, 0o600)
	if err != nil {
		return cause(err)
	}
	_, err = f.WriteAt(fmt.Appendf(nil, "%03d\n", every), 0)
	return cause(errors.Join(err, f.Close()))
}

// dueNow counts a use and reports whether a capture is due, making the count if there is none.
func (w *World) dueNow(session string) (bool, error) {
	due, err := w.count(session)
	if err == nil {
		return due, nil
	}
	s, settingsErr := w.Settings()
	if settingsErr != nil {
		return false, settingsErr
	}
	if !errors.Is(err, fs.ErrNotExist) {
		os.Remove(w.countFile(session)) // what is garbled is begun again
	}
	if err := w.recount(session, s.Every); err != nil {
		return false, err
	}
	return w.count(session)
}
