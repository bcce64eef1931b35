// Package markers lists, sets and removes markers and determines their fates.
package markers
