package app

import (
	"errors"
	"fmt"
	"path/filepath"
	"syscall"

	"github.com/memvcs/mem/refs/config"
)

// Settings returns the settings in force: those of the store under the -c options. They are read once.
func (e *Env) Settings() (*config.Config, error) {
	if e.Conf != nil {
		return e.Conf, nil
	}
	file, err := e.SettingsFile()
	if err != nil {
		return nil, err
	}
	c, err := config.Load(file)
	if errors.Is(err, syscall.ENOTDIR) {
		return nil, WithHint(fmt.Errorf("open the memory: %s: not a directory", filepath.Dir(file)),
			"name a directory with MEM_DIR or --mem-dir")
	}
	if err != nil {
		return nil, WithSyntaxHint(&Unreadable{err}, file)
	}
	if err := e.Override(c); err != nil {
		return nil, err
	}
	e.Conf = c
	return c, nil
}

func (e *Env) SettingsFile() (string, error) {
	dir, err := e.MemoryDir()
	return filepath.Join(dir, "config.json"), err
}

// WithSyntaxHint says which file to mend if err is about its syntax.
func WithSyntaxHint(err error, file string) error {
	var syntax *config.SyntaxError
	if errors.As(err, &syntax) {
		return WithHint(err, "mend "+file+", or move it away: mem never overwrites a file that it cannot read")
	}
	return err
}

// AsSetting makes an error about a setting on the command line one of usage.
func AsSetting(err error) error {
	var unknown *config.UnknownKeyError
	var value *config.ValueError
	switch {
	case errors.As(err, &value):
		return WithHint(Usagef("%v", value), "mem help config")
	case errors.As(err, &unknown):
		return WithCode(ExitUsage, err)
	}
	return err
}
