package secrets

// Nonblock is nothing here: Windows has no FIFOs among files.
const Nonblock = 0
