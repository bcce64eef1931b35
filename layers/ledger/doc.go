// Package ledger lists the operations of projects, in order.
package ledger
