// Package storecmd has the commands for the store as a whole: init, config, secrets, gc and fsck, its figures (stats, cost,
// count), and those for scripts that print its objects and names: cat-file, hash-object, ls-objects and rev-parse.
package storecmd
