// Package capture stores sessions: it locates their files, reads what is new, plans, stages and commits.
package capture
