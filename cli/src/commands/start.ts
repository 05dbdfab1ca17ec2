import { version } from '@parley/server/config'
import { startService } from '@parley/server/start'
import type { Command } from '../command.ts'
import { welcome } from '../welcome.ts'

export const startCommand: Command = {
  name: 'start',
  summary: 'Run the service until it is told to stop',
  async run({ config, clock }) {
    const say = (line: string) => console.log(line)
    say(`Parley ${version}`)
    const asked = stopAsked()
    const service = await Promise.race([startService({ config, say }), asked.then(() => undefined)])
    // Told to stop while starting: nothing is under way yet that would have to be finished.
    if (!service) process.exit(0)
    for (const line of await welcome(service, config, clock)) say(line)
    await asked
    say('Stopping…')
    const late = setTimeout(() => process.exit(1), 14_000)
    await service.stop()
    clearTimeout(late)
    say('Stopped.')
    process.exit(0)
  },
}

/** Resolves when somebody wants us to end: a signal, or the npm that started us is gone and nobody could send one. */
function stopAsked(): Promise<void> {
  return new Promise((resolve) => {
    let first = 0
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        // Ctrl-C comes twice, from the terminal and passed on by npm; a person's second one comes later.
        if (first !== 0 && Date.now() - first > 1000) process.exit(130)
        first ||= Date.now()
        resolve()
      })
    }
    if (process.env.npm_lifecycle_event === undefined) return
    const parent = process.ppid
    setInterval(() => {
      if (process.ppid !== parent) resolve()
    }, 500).unref()
  })
}
