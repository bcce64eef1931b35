package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"syscall"
	"time"

	"github.com/memvcs/mem/refs/config"
)

// settings returns the settings in force: those of the store under the -c options. They are read once.
func (e *Env) settings() (*config.Config, error) {
	if e.conf != nil {
		return e.conf, nil
	}
	file, err := e.settingsFile()
	if err != nil {
		return nil, err
	}
	c, err := config.Load(file)
	if errors.Is(err, syscall.ENOTDIR) {
		return nil, withHint(fmt.Errorf("open the memory: %s: not a directory", filepath.Dir(file)), "name a directory with MEM_DIR or --mem-dir")
	}
	if err != nil {
		return nil, withSyntaxHint(&unreadable{err}, file)
	}
	if err := e.override(c); err != nil {
		return nil, err
	}
	e.conf = c
	return c, nil
}

func (e *Env) settingsFile() (string, error) {
	dir, err := e.memoryDir()
	return filepath.Join(dir, "config.json"), err
}

// changeSettings edits the file of settings by fn, waiting for others no longer than --lock-timeout.
func (e *Env) changeSettings(ctx context.Context, fn func(*config.Config) error) error {
	file, err := e.settingsFile()
	if err != nil {
		return err
	}
	if e.opt.dryRun {
		c, err := config.Load(file)
		if err != nil {
			return withSyntaxHint(err, file)
		}
		return fn(c)
	}
	wait, err := e.lockTimeout()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, max(wait, time.Millisecond))
	defer cancel()
	if err := config.Edit(ctx, file, fn); err != nil {
		return withSyntaxHint(&unwritable{err}, file)
	}
	e.conf = nil // who asks next sees the change
	return nil
}

// lockTimeout returns how long to wait for another process: --lock-timeout or the setting lock.timeout.
func (e *Env) lockTimeout() (time.Duration, error) {
	if e.opt.lockTimeout >= 0 {
		return e.opt.lockTimeout, nil
	}
	c, err := e.settings()
	if err != nil {
		return 0, err
	}
	return c.Duration("lock.timeout")
}

// withSyntaxHint says which file to mend if err is about its syntax.
func withSyntaxHint(err error, file string) error {
	var syntax *config.SyntaxError
	if errors.As(err, &syntax) {
		return withHint(err, "mend "+file+", or move it away: mem never overwrites a file that it cannot read")
	}
	return err
}

// asSetting makes an error about a setting on the command line one of usage.
func asSetting(err error) error {
	var unknown *config.UnknownKeyError
	var value *config.ValueError
	switch {
	case errors.As(err, &value):
		return withHint(usagef("%v", value), "mem help config")
	case errors.As(err, &unknown):
		return withCode(exitUsage, err)
	}
	return err
}
