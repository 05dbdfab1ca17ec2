export interface Progress {
  /** What is being done now. */
  say(what: string): void
  end(): void
}

const timeoutMs = 2_000

/**
 * Tells on standard error what takes long: at a terminal on one line that is wiped again, elsewhere a line for each thing
 * that takes more than two seconds.
 */
export function newProgress(stream: NodeJS.WriteStream = process.stderr): Progress {
  let late: NodeJS.Timeout | undefined
  const wipe = () => void (stream.isTTY && stream.write('\r\u001b[K'))
  return {
    say(what) {
      clearTimeout(late)
      wipe()
      if (stream.isTTY) stream.write(`${what}…`)
      else late = setTimeout(() => stream.write(`${what}…\n`), timeoutMs).unref()
    },
    end() {
      clearTimeout(late)
      wipe()
    },
  }
}
