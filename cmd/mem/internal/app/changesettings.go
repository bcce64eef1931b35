package app

import (
	"context"
	"time"

	"github.com/memvcs/mem/refs/config"
)

// ChangeSettings edits the settings with fn under the lock of the file, for which it waits --lock-timeout at most.
func ChangeSettings(ctx context.Context, e *Env, fn func(*config.Config) error) error {
	file, err := e.SettingsFile()
	if err != nil {
		return err
	}
	if e.Opt.DryRun {
		c, err := config.Load(file)
		if err != nil {
			return withSyntaxHint(err, file)
		}
		return fn(c)
	}
	e.Lenient = true // an invalid value can be mended
	wait, err := LockTimeout(e)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, max(wait, time.Millisecond))
	defer cancel()
	if err := config.Edit(ctx, file, fn); err != nil {
		return withSyntaxHint(&Unwritable{Err: err}, file)
	}
	e.Conf = nil // reload at the next use
	return nil
}

// LockTimeout returns the maximum wait for another process: --lock-timeout or the setting lock.timeout.
func LockTimeout(e *Env) (time.Duration, error) {
	if e.Opt.LockTimeout >= 0 {
		return e.Opt.LockTimeout, nil
	}
	c, err := e.Settings()
	if err != nil {
		return 0, err
	}
	return c.Duration("lock.timeout"), nil
}
