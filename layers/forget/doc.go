// Package forget deletes text from every file of the store for good and proves that it is gone.
package forget
