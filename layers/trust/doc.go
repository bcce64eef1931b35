// Package trust knows the devices, returns the state of a project without revoked data, and revokes sources.
package trust
