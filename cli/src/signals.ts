const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Calls back whenever somebody wants this program to end. Returns how to stop listening. */
export function onSignals(heard: (signal: NodeJS.Signals) => void): () => void {
  for (const signal of signals) process.on(signal, heard)
  return () => {
    for (const signal of signals) process.off(signal, heard)
  }
}
