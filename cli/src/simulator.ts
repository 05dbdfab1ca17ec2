import { join } from 'node:path'
import type { Config } from '@parley/server/config'
import { StartupError } from '@parley/server/lib/refuse'
import type { Simulator } from '@parley/simulator/start'

/** Starts the simulated WhatsApp network in this process. Its state is kept in the data directory between runs. */
export async function runSimulator({ simulatorPort, dataDir }: Config): Promise<Simulator> {
  // Loaded on demand: no other command needs it.
  const { startSimulator } = await import('@parley/simulator/start')
  const stateFile = join(dataDir, 'simulator', 'state.json')
  try {
    return await startSimulator({ port: simulatorPort, dataset: 'demo', stateFile })
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
