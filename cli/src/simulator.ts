import { join } from 'node:path'
import type { Config } from '@parley/server/config'
import { toStartupError } from '@parley/server/db/embedded/explain-error'
import { createFolder } from '@parley/server/lib/create-folder'
import { createOnce } from '@parley/server/lib/create-once'
import { StartupError } from '@parley/server/lib/refuse'
import type { DemoSecrets } from '@parley/simulator/datasets/demo-secrets'
import type { LocalApp } from '@parley/simulator/network'
import type { Simulator } from '@parley/simulator/start'

/**
 * Starts the simulated WhatsApp network in this process. Its state is kept in the data directory between runs, and so
 * are its secrets, which are random. With an `app`, the clock of both can be moved. They are not in its folder: a simulator whose folder was deleted is still connected.
 */
export async function runSimulator(config: Config, app: LocalApp | null = null): Promise<Simulator> {
  const { simulatorPort, dataDir, publicUrl } = config
  // Loaded on demand: no other command needs it.
  const { startSimulator } = await import('@parley/simulator/start')
  const { MovableClock } = await import('@parley/simulator/clock')
  const { newDemoSecrets } = await import('@parley/simulator/datasets/demo-secrets')
  const demoSecrets = readSecrets(dataDir, newDemoSecrets)
  const stateFile = join(dataDir, 'simulator', 'state.json')
  try {
    return await startSimulator({
      port: simulatorPort,
      dataset: 'demo',
      demoSecrets,
      stateFile,
      consoleUrl: publicUrl,
      ...(app && { clock: new MovableClock(), app }),
    })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const remedy = 'Set PARLEY_SIMULATOR_PORT to a free port, or to 0 to turn the simulator off.'
    if (code === 'EADDRINUSE')
      throw new StartupError(`The simulator cannot start: port ${simulatorPort} is in use. ${remedy}`)
    if (code === 'EACCES')
      throw new StartupError(`The simulator cannot start: this user may not use port ${simulatorPort}. ${remedy}`)
    // An invalid state file: the simulator's message already explains the problem.
    if (message.includes(stateFile)) throw new StartupError(message)
    throw error
  }
}

function readSecrets(dataDir: string, create: () => DemoSecrets): DemoSecrets {
  const file = join(dataDir, 'simulator-secrets')
  let text: string
  try {
    // With DATABASE_URL, nothing else needs the data directory.
    createFolder(dataDir)
    text = createOnce(file, () => JSON.stringify(create()))
  } catch (error) {
    throw toStartupError(error, dataDir)
  }
  try {
    const { appSecret, verifyToken, accessToken } = JSON.parse(text) as DemoSecrets
    if ([appSecret, verifyToken, accessToken].every((secret) => /^\w{16,}$/.test(secret)))
      return { appSecret, verifyToken, accessToken }
  } catch {}
  throw new StartupError(`Invalid secrets of the simulator in ${file}. Restore the file from your backup.`)
}
