package config

import (
	"strconv"
	"time"
)

// String returns the value of key. Like all typed getters it fails if the file contains an invalid
// value, and with an [*UnknownKeyError] if there is no such key.
func (c *Config) String(key string) (string, error) {
	v, _, err := c.Get(key)
	return v, err
}

// Bool returns the value of a key that is true or false.
func (c *Config) Bool(key string) (bool, error) {
	v, err := c.String(key)
	return v == "true", err
}

// Int returns the value of a key that is a whole number.
func (c *Config) Int(key string) (int, error) {
	return typed(c, key, strconv.Atoi)
}

// Hundredths returns the value of a key that is a weight: 0.8 is 80.
func (c *Config) Hundredths(key string) (int, error) { return typed(c, key, parseHundredths) }

// Size returns the value of a key that is a size, in bytes.
func (c *Config) Size(key string) (int64, error) { return typed(c, key, parseSize) }

// Duration returns the value of a key that is a time.
func (c *Config) Duration(key string) (time.Duration, error) { return typed(c, key, parseDuration) }

// typed parses the value of key. A key of another kind is a [*ValueError].
func typed[T any](c *Config, key string, parse func(string) (T, error)) (T, error) {
	var zero T
	s, err := c.String(key)
	if err != nil {
		return zero, err
	}
	v, err := parse(s)
	if err != nil {
		return zero, &ValueError{Key: key, Value: s, Want: "a value of another kind", Err: err}
	}
	return v, nil
}
