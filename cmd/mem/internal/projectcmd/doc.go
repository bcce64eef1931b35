// Package projectcmd has mem project, which links, relates and shares projects.
package projectcmd
