// Preloaded into a process to make its monotonic clock stop while it is stopped with SIGSTOP, as the clock of a suspended
// machine does. The process reads its clock several times a second, so a longer pause between two reads means it was stopped.
const suspendedAboveMs = 10_000

const read = performance.now.bind(performance)
let lastMs = read()
let suspendedMs = 0

performance.now = () => {
  const ms = read()
  if (ms - lastMs > suspendedAboveMs) suspendedMs += ms - lastMs
  lastMs = ms
  return ms - suspendedMs
}
