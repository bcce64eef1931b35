// Package remotecmd has the commands for remotes, devices and projects.
package remotecmd
