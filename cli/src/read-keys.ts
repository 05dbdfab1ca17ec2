/** Calls back for keys that are pressed, even if they come from a pipe. */
export function readKeys(actions: Readonly<Record<string, () => void>>): { close(): void } {
  const { stdin } = process
  const onData = (chunk: Buffer) => {
    for (const key of chunk.toString()) actions[key]?.()
  }
  if (stdin.isTTY) stdin.setRawMode(true)
  stdin.on('data', onData)
  return {
    close() {
      stdin.off('data', onData)
      if (stdin.isTTY) stdin.setRawMode(false)
      stdin.pause()
      stdin.unref?.()
    },
  }
}
