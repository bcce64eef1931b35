// Package remotecmd has the commands for remotes, devices and revoked sources.
package remotecmd
