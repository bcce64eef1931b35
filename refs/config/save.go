package config

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/memvcs/mem/refs/disk"
)

// ErrLocked means that another process was changing the settings until the context ended.
var ErrLocked = errors.New("the settings are being changed by another process")

// Edit locks the settings in file, loads them, calls fn and saves them. If fn fails, nothing is written. The lock ends
// with the process. Edit fails with [ErrLocked] when ctx ends first.
func Edit(ctx context.Context, file string, fn func(*Config) error) error {
	return withLock(ctx, file, func() error {
		c, err := Load(file)
		if err == nil {
			err = fn(c)
		}
		if err == nil {
			err = c.Save(file)
		}
		return err
	})
}

// withLock calls fn while the settings in file are locked.
func withLock(ctx context.Context, file string, fn func() error) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("make the directory of the settings: %w", err)
	}
	unlock, err := disk.Lock(ctx, file+".lock", time.Hour) // ctx ends it sooner
	if errors.Is(err, disk.ErrLocked) || errors.Is(err, context.DeadlineExceeded) {
		return ErrLocked
	}
	if err != nil {
		return fmt.Errorf("lock the settings: %w", err)
	}
	defer unlock()
	return fn()
}

// Save atomically and durably writes the settings to file, without overrides. It may overwrite a change of another
// process since [Load]; [Edit] prevents that.
func (c *Config) Save(file string) error {
	b, err := encode(c.doc)
	if err != nil {
		return err
	}
	if err := replace(file, b); err != nil {
		return fmt.Errorf("save settings: %w", err)
	}
	_ = replace(file+sumSuffix, sumLine(file, b)) // a checksum older than its file is ignored
	return nil
}

// replace atomically replaces file by one with the content b. If file is a symbolic link, its target is replaced.
func replace(file string, b []byte) error {
	if target, err := filepath.EvalSymlinks(file); err == nil {
		file = target
	}
	return disk.WriteFile(file, b)
}
