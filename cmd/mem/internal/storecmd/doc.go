// Package storecmd has the commands that create, configure and compact the store: init, config, secrets and gc.
package storecmd
