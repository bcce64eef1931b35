// Package doctor has mem doctor, which checks the store, the hooks and the machine.
package doctor
