import type { Logger } from './logger.ts'

export interface Loop {
  stop(): Promise<void>
}

/**
 * Runs `turn` again and again, `everyMs` apart, until stopped. A turn that fails is logged and the loop goes on, so a
 * database that is away for a minute costs that minute and no more.
 */
export function startLoop(name: string, log: Logger, everyMs: number, turn: () => Promise<void>): Loop {
  let stopped = false
  let wake: (() => void) | undefined
  const running = (async () => {
    while (!stopped) {
      try {
        await turn()
      } catch (error) {
        log.warn({ err: error, loop: name }, 'a loop failed and will try again')
      }
      if (stopped) return
      await new Promise<void>((resolve) => {
        wake = resolve
        setTimeout(resolve, everyMs).unref()
      })
    }
  })()
  return {
    async stop() {
      stopped = true
      wake?.()
      await running
    },
  }
}
