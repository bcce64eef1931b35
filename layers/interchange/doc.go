// Package interchange reads and writes memory in the file formats of other tools.
//
// What is exported is not stored: memory.md ([MemoryPage]) and every other [Format] are computed from the state of the project,
// so they are always up to date and the same for the same state. memory.md is the rolling summary that a session can read
// first: it never exceeds its token budget, drops the least important items first, and states how many it dropped. Text that
// only tools, files, the web or scripts wrote is not in it.
//
// An import ([Import]) reads the store of another memory tool. Originals are captured like any session, byte for byte and with
// the same rules for secrets. Versions and compositions are not imported, because mem makes its own from the originals. What
// another tool knows is verified like the answer of a model: a fact without a quote in a session is inferred, and a rule is
// proposed until the user promotes it. Existing data is never overwritten, and a second import of the same store changes
// nothing. Everything in a store is reported as an [Item], with the reason if it was not imported.
package interchange
