const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** How often it looks whether npm is still there. */
const checkMs = 500

/**
 * Calls `listener` on every signal that asks the process to stop, and when the npm process that started it is gone and can no
 * longer pass one on. Returns a function that removes it.
 */
export function onSignals(listener: (signal: NodeJS.Signals) => void): () => void {
  for (const signal of signals) process.on(signal, listener)
  const parent = process.ppid
  const check = setInterval(() => {
    if (process.env.npm_lifecycle_event !== undefined && process.ppid !== parent) listener('SIGHUP')
  }, checkMs).unref()
  return () => {
    clearInterval(check)
    for (const signal of signals) process.off(signal, listener)
  }
}
