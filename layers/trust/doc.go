// Package trust knows the devices, and returns the state of a project without revoked data.
package trust
