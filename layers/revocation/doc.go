// Package revocation revokes a source and lists what that affects.
package revocation
