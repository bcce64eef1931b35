// Package rulecmd has the commands that list, propose and edit permanent rules: rules and reflect.
package rulecmd
