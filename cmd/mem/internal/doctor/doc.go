// Package doctor is the command that checks the store, the hooks and the machine around them.
package doctor
