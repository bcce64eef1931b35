// Package remotecmd has the commands about remotes, devices and projects.
package remotecmd
