package config

import (
	"fmt"
	"strconv"
	"time"
)

// String returns the value of key. Like all typed getters it returns the default instead of an invalid value, which
// [Config.Check] finds, and panics if there is no such key, or one of another kind.
func (c *Config) String(key string) string {
	v, _, err := c.Get(key)
	if err == nil {
		return v
	}
	k, err := Lookup(key)
	if err != nil {
		panic(err)
	}
	return k.Default
}

// Bool returns the value of a key that is true or false.
func (c *Config) Bool(key string) bool { return c.String(key) == "true" }

// Int returns the value of a key that is a whole number.
func (c *Config) Int(key string) int { return typed(c, key, strconv.Atoi) }

// Hundredths returns the value of a key that is a weight: 0.8 is 80.
func (c *Config) Hundredths(key string) int { return typed(c, key, parseHundredths) }

// Size returns the value of a key that is a size, in bytes.
func (c *Config) Size(key string) int64 { return typed(c, key, parseSize) }

// Duration returns the value of a key that is a time.
func (c *Config) Duration(key string) time.Duration { return typed(c, key, parseDuration) }

func typed[T any](c *Config, key string, parse func(string) (T, error)) T {
	v, err := parse(c.String(key))
	if err != nil {
		panic(fmt.Errorf("setting %s: %w", key, err))
	}
	return v
}
