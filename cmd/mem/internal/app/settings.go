package app

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/memvcs/mem/refs/config"
)

// Settings returns the store's settings with the -c options applied. They are read once. An invalid value is an error,
// unless e is lenient.
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
			"set MEM_DIR or --mem-dir to a directory")
	}
	if err != nil {
		return nil, withSyntaxHint(&Unreadable{err}, file)
	}
	err = e.Override(c)
	if err == nil && !e.Lenient {
		err = c.Check()
	}
	if err != nil {
		return nil, err
	}
	e.Conf = c
	return c, nil
}

// SettingsFile returns the path of the file of settings.
func (e *Env) SettingsFile() (string, error) {
	dir, err := e.MemoryDir()
	return filepath.Join(dir, "config.json"), err
}

// withSyntaxHint adds to a syntax error the hint to edit or move the file.
func withSyntaxHint(err error, file string) error {
	var syntax *config.SyntaxError
	if errors.As(err, &syntax) {
		return WithHint(err, "edit "+file+", or move it away: mem never overwrites a file that it cannot read")
	}
	return err
}

// AsSetting turns an error about a setting on the command line into a usage error.
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

// Override applies the -c options to c.
func (e *Env) Override(c *config.Config) error {
	for _, kv := range e.Opt.Set {
		key, val, ok := strings.Cut(kv, "=")
		if !ok {
			return WithHint(Usagef("option -c requires KEY=VALUE, not %q", kv), "mem -c "+kv+"=true ...")
		}
		if err := c.Override(key, val); err != nil {
			return AsSetting(err)
		}
	}
	return nil
}

// The prefixes of the settings for redaction.
const (
	AllowKey = "redact.allow."
	RuleKey  = "redact.rule."
)
