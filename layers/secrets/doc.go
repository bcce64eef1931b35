// Package secrets finds secrets in stored and outgoing data.
package secrets
