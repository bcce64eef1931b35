// Package versioncmd has the commands that make and list versions and compositions.
package versioncmd
