package secrets

// Nonblock is 0: Windows has no FIFOs among files.
const Nonblock = 0
