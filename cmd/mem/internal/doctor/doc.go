// Package doctor implements mem doctor, which checks the store, the hooks and the machine.
package doctor
