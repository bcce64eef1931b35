package secrets

// Nonblock is 0: Windows has no FIFOs in the file system.
const Nonblock = 0
