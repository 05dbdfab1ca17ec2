const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Calls `listener` on every signal that asks the process to stop. Returns a function that removes it. */
export function onSignals(listener: (signal: NodeJS.Signals) => void): () => void {
  for (const signal of signals) process.on(signal, listener)
  return () => {
    for (const signal of signals) process.off(signal, listener)
  }
}
