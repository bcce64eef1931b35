// Package config reads and edits the settings of a store: the file config.json, its valid keys, their defaults and
// the format of each value.
//
// Every setting is one row of a table ([Keys]): a dotted name, a kind that checks values, a default and a one-line
// description. A value has one text form, used by "mem config set" and "mem config get"; a typed getter such as
// [Config.Bool] reads it. The file is edited and not rewritten: unknown members and comments keep their place and their bytes
// ([Config.Unknown] names them), so an older mem never destroys settings of a newer one. A file that is not JSON is
// an error with its position ([SyntaxError]) and is never overwritten.
//
// Values come, in falling precedence, from an override of one run ([Config.Override]), from the file, and from the
// table. A Config is not safe for use by several goroutines at once.
package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// An Origin is the source of the value of a setting.
type Origin string

// The origins of a value.
const (
	Default  Origin = "default"      // the table of keys
	File     Origin = "file"         // config.json
	Override Origin = "command line" // this run alone
)

// A Setting is one key with its effective value.
type Setting struct {
	Key    string
	Value  string
	Origin Origin
}

// A Config contains the effective settings: overrides, else values of a file, else defaults.
type Config struct {
	doc      hujson.Value // an object
	override map[string]string
}

// Load reads the settings in file. A missing file counts as empty. Invalid values are not an error here, so that they
// can be corrected; see [Config.Check].
func Load(file string) (*Config, error) {
	if fi, err := os.Stat(file); err == nil && !fi.Mode().IsRegular() {
		return nil, fmt.Errorf("read settings: %s is not a regular file", file) // opening a pipe would block
	}
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return Parse(nil)
	}
	if err != nil {
		return nil, fmt.Errorf("read settings: %w", err)
	}
	c, err := Parse(b)
	if err != nil {
		return nil, fmt.Errorf("read settings in %s: %w", file, err)
	}
	return c, nil
}

// Parse reads settings from the text of a config.json. An empty text is an empty object.
func Parse(b []byte) (*Config, error) {
	doc, err := parse(b)
	if err != nil {
		return nil, err
	}
	return &Config{doc: doc}, nil
}

func (c *Config) root() *hujson.Object { return c.doc.Value.(*hujson.Object) } // as parse has checked

// Get returns the effective value of key and its origin. It fails with an [*UnknownKeyError] for a key that is not in
// the table, and with a [*ValueError] if the file contains an invalid value.
func (c *Config) Get(key string) (string, Origin, error) {
	k, err := Lookup(key)
	if err != nil {
		return "", "", err
	}
	if v, ok := c.override[key]; ok {
		return v, Override, nil
	}
	raw, ok := get(c.root(), path(key))
	if !ok {
		return k.Default, Default, nil
	}
	v, err := k.Kind.read(raw)
	if err != nil {
		return "", File, &ValueError{Key: key, Value: string(raw), Want: k.Kind.desc, Err: err}
	}
	return v, File, nil
}

// Set sets key to value if the key's kind accepts it. [Config.Save] or [Edit] writes it to disk.
func (c *Config) Set(key, value string) error {
	k, v, err := check(key, value)
	if err != nil {
		return err
	}
	return set(c.root(), path(key), k.Kind.json(v))
}

// Unset removes key from the file's settings, so that its default applies, and reports whether it was set. Unknown keys
// can be removed too.
func (c *Config) Unset(key string) (bool, error) {
	if unset(c.root(), path(key)) {
		return true, nil
	}
	_, err := Lookup(key)
	return false, err
}

// Override sets key for this run only, with precedence over the file.
func (c *Config) Override(key, value string) error {
	_, v, err := check(key, value)
	if err != nil {
		return err
	}
	if c.override == nil {
		c.override = map[string]string{}
	}
	c.override[key] = v
	return nil
}

// List returns every setting of the table with its effective value, and the members of families such as pager.* that
// are set, sorted by key. Invalid values are listed unchanged.
func (c *Config) List() []Setting {
	names := c.family()
	for _, k := range Keys() {
		if !k.family() {
			names = append(names, k.Name)
		}
	}
	slices.Sort(names)
	var out []Setting
	for _, name := range slices.Compact(names) {
		v, from, err := c.Get(name)
		var bad *ValueError
		if errors.As(err, &bad) {
			v = bad.Value
		}
		out = append(out, Setting{Key: name, Value: v, Origin: from})
	}
	return out
}

// family returns the members of the table's families that are set.
func (c *Config) family() []string {
	var names []string
	for name := range c.override {
		names = append(names, name)
	}
	for _, leaf := range leaves(c.root()) {
		if _, err := Lookup(leaf); err == nil {
			names = append(names, leaf)
		}
	}
	return names
}

// Unknown returns the names in the file that have no effect, sorted: those that are not in the table, and those of one
// member instead of nested ones, such as "color.ui".
func (c *Config) Unknown() []string {
	var names []string
	for _, leaf := range leaves(c.root()) {
		_, err := Lookup(leaf)
		if _, nested := get(c.root(), path(leaf)); err != nil || !nested {
			names = append(names, leaf)
		}
	}
	slices.Sort(names)
	return names
}

// Check returns the [*ValueError] of the first invalid value in the file, or nil.
func (c *Config) Check() error {
	for _, leaf := range leaves(c.root()) {
		if _, err := Lookup(leaf); err != nil {
			continue
		}
		if _, _, err := c.Get(leaf); err != nil {
			return err
		}
	}
	return nil
}

// check finds key and returns value in its canonical form.
func check(key, value string) (Key, string, error) {
	k, err := Lookup(key)
	if err != nil {
		return Key{}, "", err
	}
	v, err := k.Kind.canon(value)
	if err != nil {
		return Key{}, "", &ValueError{Key: key, Value: value, Want: k.Kind.desc, Err: err}
	}
	return k, v, nil
}

func path(key string) []string { return strings.Split(key, ".") }
