// Package versioncmd has the commands that make and list versions and compositions, and those about their
// markers.
package versioncmd
