import { StartupError } from '@parley/server/lib/refuse'
import type { Call } from './command.ts'
import { readRunning } from './running.ts'

/** The port of the simulator: as set, or else as the running service wrote it down. */
export function simulatorPort({ config, env }: Pick<Call, 'config' | 'env'>): number {
  if (env.PARLEY_SIMULATOR_PORT || config.databaseUrl !== null) return config.simulatorPort
  const running = readRunning(config.dataDir)
  if (running === 'stopped') throw new StartupError('The service is not running. Start it with: npm start')
  return running === undefined ? config.simulatorPort : (running.simulator_port ?? 0)
}

/** Calls the simulator's control API on this machine. Its own error messages are passed on. */
export async function callSimulator(
  port: number,
  method: 'GET' | 'POST' | 'PATCH',
  path: string,
  body?: unknown,
): Promise<unknown> {
  if (port === 0) {
    throw new StartupError('The simulator is off. To use it, set PARLEY_SIMULATOR_PORT to its port, for example 8090.')
  }
  const url = `http://127.0.0.1:${port}/control${path}`
  const response = await fetch(url, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }).catch(
    (error: Error) => {
      const { code = error.message } = (error.cause ?? {}) as { code?: string }
      throw new StartupError(
        `Cannot reach the simulator on port ${port} (${code}). Start the service with "npm start", or set PARLEY_SIMULATOR_PORT to the simulator's port.`,
      )
    },
  )
  const json = await response.json().catch(() => undefined)
  if (response.ok && json !== undefined) return json
  const { error } = (json ?? {}) as { error?: { message?: unknown; field?: unknown } }
  if (typeof error?.message === 'string' && error.field !== undefined) throw new StartupError(error.message)
  throw new StartupError(
    `Another program uses port ${port}, not the simulator (HTTP ${response.status}). Set PARLEY_SIMULATOR_PORT to the simulator's port.`,
  )
}
