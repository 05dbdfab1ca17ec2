import { join } from 'node:path'
import type { Config } from '@parley/server/config'
import { StartupError } from '@parley/server/lib/refuse'
import type { Simulator } from '@parley/simulator/start'

/** The pretend network in this process; its world is kept in the data directory between runs. */
export async function runSimulator({ simulatorPort, dataDir }: Config): Promise<Simulator> {
  // Loaded here, for no other command needs it.
  const { startSimulator } = await import('@parley/simulator/start')
  const stateFile = join(dataDir, 'simulator', 'state.json')
  try {
    return await startSimulator({ port: simulatorPort, dataset: 'demo', stateFile })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const remedy = 'Set PARLEY_SIMULATOR_PORT to a free one, or to 0 to go without.'
    if (code === 'EADDRINUSE') throw new StartupError(`Port ${simulatorPort}, the simulator's, is in use. ${remedy}`)
    if (code === 'EACCES') throw new StartupError(`Port ${simulatorPort} may not be used by this user. ${remedy}`)
    // The simulator says itself what is wrong with its file.
    if (message.includes(stateFile)) throw new StartupError(message)
    throw error
  }
}
