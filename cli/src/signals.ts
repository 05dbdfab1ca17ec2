const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Calls `listener` on every signal that asks the process to stop, and with SIGPIPE if no one reads its output any more, as in
 * `parley events --follow | head`. Returns a function that removes it.
 */
export function onSignals(listener: (signal: NodeJS.Signals) => void): () => void {
  // Not the signal itself: it would also come for a connection that the other side closed.
  const onError = (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') listener('SIGPIPE')
  }
  for (const signal of signals) process.on(signal, listener)
  process.stdout.on('error', onError)
  return () => {
    for (const signal of signals) process.off(signal, listener)
    process.stdout.off('error', onError)
  }
}
