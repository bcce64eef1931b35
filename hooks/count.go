package hooks

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
)

// countHead is the size of the head of a count file: three digits and a newline.
//
// The file grows by one byte for each use of a tool in a session; the offset of the byte is the number of the use,
// also with concurrent hooks. The head is the number of uses between two captures, so that a hook with nothing to do
// reads no settings. The file is not synced: after a crash a capture comes a few uses later.
const countHead = 4

func (w *World) countFile(session string) string { return w.sessionFile(session, ".count") }

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
		return false, errors.New("count: malformed head")
	}
	if _, err := f.Write([]byte{'.'}); err != nil {
		return false, fmt.Errorf("count: %w", withoutPath(err))
	}
	at, err := f.Seek(0, io.SeekCurrent)
	return err == nil && (at-countHead)%int64(every) == 0, err
}

// resetCount writes the head of a session's count and keeps its uses.
func (w *World) resetCount(session string, every int) error {
	file := w.countFile(session)
	return withoutPath(withDir(file, func() error {
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|noFollow, 0o600)
		if err != nil {
			return err
		}
		_, err = f.WriteAt(fmt.Appendf(nil, "%03d\n", every), 0)
		return errors.Join(err, f.Close())
	}))
}

// countUse counts a use and reports whether a capture is due. It creates the count if there is none.
func (w *World) countUse(session string) (bool, error) {
	due, err := w.count(session)
	if err == nil {
		return due, nil
	}
	s, settingsErr := w.Settings()
	if settingsErr != nil {
		return false, settingsErr
	}
	if !errors.Is(err, fs.ErrNotExist) {
		os.Remove(w.countFile(session)) // a malformed count starts again
	}
	if err := w.resetCount(session, s.Every); err != nil {
		return false, err
	}
	return w.count(session)
}
