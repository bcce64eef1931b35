// Package derive creates and reproduces versions and compositions: compress, compose, and summarise by age.
package derive
