package hookcmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/hooks/settings"
	"github.com/memvcs/mem/layers/trace"
	"github.com/memvcs/mem/refs/config"
	"github.com/memvcs/mem/refs/disk"
)

// register is the setting that install turns on.
const register = "defaults.autoRegisterSessions"

// turnOnRegister sets defaults.autoRegisterSessions unless the user has set it, and marks that install set it.
func turnOnRegister(ctx context.Context, e *app.Env) error {
	mark, err := registerMark(e)
	if err != nil {
		return err
	}
	return app.ChangeSettings(ctx, e, func(c *config.Config) error {
		if _, from, err := c.Get(register); err != nil || from == config.File {
			if err == nil && !c.Bool(register) {
				e.Note("%s is false: only sessions that you add by hand are captured", register)
			}
			return err
		}
		err := os.MkdirAll(filepath.Dir(mark), 0o700)
		if err == nil {
			err = disk.WriteFile(mark, nil)
		}
		if err != nil {
			return fmt.Errorf("mark that install sets %s: %w", register, err)
		}
		return c.Set(register, "true")
	})
}

// restoreRegister removes defaults.autoRegisterSessions if install set it, the user has not changed it, and no other
// settings have hooks of this memory.
func restoreRegister(ctx context.Context, e *app.Env, f settings.SettingsFile) error {
	mark, err := registerMark(e)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(mark); errors.Is(err, fs.ErrNotExist) {
		return nil // install did not set it
	} else if err != nil {
		return err
	}
	if others, err := f.Others(); err != nil || others {
		return err
	}
	err = app.ChangeSettings(ctx, e, func(c *config.Config) error {
		if !c.Bool(register) { // an invalid value is that of the user, too
			return nil
		}
		_, err := c.Unset(register)
		return err
	})
	if err != nil {
		return err
	}
	if err := os.Remove(mark); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// registerMark is the file that marks that install set defaults.autoRegisterSessions.
func registerMark(e *app.Env) (string, error) {
	store, err := e.MemoryDir()
	return filepath.Join(store, "hooks", "registers"), err
}

// unifiedDiff returns the change of a file in the format of diff -u.
func unifiedDiff(file string, c settings.Change) string {
	var out strings.Builder
	for line := range trace.UnifiedDiff(file, file, string(c.Before), string(c.After)) {
		out.WriteString(line + "\n")
	}
	return out.String()
}
