import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config, Environment } from '@parley/server/config'
import { isAlive } from '@parley/server/db/embedded/processes'

/** Where the service of a data directory listens. It writes this down, because its ports can differ from the settings of a command. */
export interface RunningService {
  pid: number
  url: string
  /** The address that people and WhatsApp use. */
  public_url: string
  /** Null if the simulator is off. */
  simulator_port: number | null
  /** A simulated phone for first messages. */
  phone: string | null
}

const fileIn = (dataDir: string): string => join(dataDir, 'service.json')

/** Returns a function that removes the file. */
export function writeRunning(dataDir: string, running: Omit<RunningService, 'pid'>): () => void {
  const file = fileIn(dataDir)
  const draft = `${file}.draft-${process.pid}`
  writeFileSync(draft, `${JSON.stringify({ pid: process.pid, ...running }, null, 2)}\n`, { mode: 0o600 })
  // A command that reads it never sees half of it.
  renameSync(draft, file)
  return () => rmSync(file, { force: true })
}

/**
 * `stopped` if the service was killed and could not remove its file. Undefined without a file: then it is not running, or it
 * uses DATABASE_URL.
 */
export function readRunning(dataDir: string): RunningService | 'stopped' | undefined {
  let running: RunningService
  try {
    running = JSON.parse(readFileSync(fileIn(dataDir), 'utf8')) as RunningService
  } catch {
    return undefined
  }
  // In a container, a command can have the process ID that the service had.
  return running.pid !== process.pid && isAlive(running.pid) ? running : 'stopped'
}

/** The settings of a command. Links use PUBLIC_URL, or else the address of the running service. */
export function withRunning(config: Config, env: Environment): Config {
  if (env.PUBLIC_URL || config.databaseUrl !== null) return config
  const running = readRunning(config.dataDir)
  if (running === undefined || running === 'stopped') return config
  return { ...config, publicUrl: running.public_url }
}
