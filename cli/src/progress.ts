export interface Progress {
  /** Shows the current step. */
  say(step: string): void
  end(): void
}

const delayMs = 2_000

/**
 * Shows the current step on standard error. At a terminal it is one line that is cleared at the end; elsewhere a line is
 * printed for each step that takes more than two seconds.
 */
export function newProgress(stream: NodeJS.WriteStream = process.stderr): Progress {
  let delayed: NodeJS.Timeout | undefined
  const clearLine = () => void (stream.isTTY && stream.write('\r\u001b[K'))
  return {
    say(step) {
      clearTimeout(delayed)
      clearLine()
      if (stream.isTTY) stream.write(`${step}…`)
      else delayed = setTimeout(() => stream.write(`${step}…\n`), delayMs).unref()
    },
    end() {
      clearTimeout(delayed)
      clearLine()
    },
  }
}
