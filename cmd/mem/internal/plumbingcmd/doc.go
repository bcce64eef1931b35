// Package plumbingcmd has the commands for scripts that print objects and names: cat-file, hash-object, ls-objects and
// rev-parse.
package plumbingcmd
