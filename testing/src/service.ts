import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { freePort } from './free-port.ts'

/** The line that `parley start --json` prints. */
export interface StartedService {
  url: string
  simulator_url: string
  key: string
  senders: { id: string; phone_number: string; display_name: string }[]
}

export interface RunningService extends StartedService {
  /** Runs another command of the same installation, and returns its JSON. */
  command(...words: string[]): Promise<unknown>
  stop(): Promise<void>
}

interface SpawnOptions {
  command: string
  dataDir: string
  env: Readonly<Record<string, string>>
  withinMs: number
}

const run = promisify(execFile)

/** Starts the service with a data directory of its own and free ports. */
export async function spawnService({ command, dataDir, env, withinMs }: SpawnOptions): Promise<RunningService> {
  const own = {
    // Not those of the program under test: DATABASE_URL would be its database.
    ...withoutSettings(process.env),
    ...env,
    PARLEY_DATA_DIR: dataDir,
    PORT: '0',
    PARLEY_SIMULATOR_PORT: String(await freePort()),
  }
  const child = spawn(command, ['start', '--json', '--movable-clock'], {
    env: own,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const stopOnExit = () => child.kill('SIGKILL')
  process.once('exit', stopOnExit)
  let said = ''
  child.stderr.on('data', (text) => {
    said = (said + text).slice(-4_000)
  })
  let limit: NodeJS.Timeout | undefined
  const tooLate = new Promise<never>((_, reject) => {
    limit = setTimeout(() => {
      child.kill('SIGKILL')
      reject(new Error(`Parley did not start within ${withinMs / 1000} seconds:\n${said}`))
    }, withinMs)
  })
  const started = await Promise.race([
    firstLine(child.stdout),
    once(child, 'error').then(([error]) => {
      throw new Error(`"${command}" cannot be started: ${(error as Error).message}. Set PARLEY_COMMAND to its path.`)
    }),
    once(child, 'exit').then(() => {
      throw new Error(`"${command}" did not start Parley:\n${said}`)
    }),
    tooLate,
  ]).finally(() => clearTimeout(limit))
  // No one waits for these any more.
  child.on('error', () => {})
  return {
    ...(JSON.parse(started) as StartedService),
    async command(...words) {
      const { stdout } = await run(command, [...words, '--json'], { env: own }).catch((error: { stderr?: string }) => {
        throw new Error(messageIn(error.stderr ?? String(error)))
      })
      return JSON.parse(stdout) as unknown
    },
    async stop() {
      process.off('exit', stopOnExit)
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGTERM')
      await once(child, 'exit')
    },
  }
}

async function firstLine(stream: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: stream })) return line
  return new Promise(() => {})
}

/** The message of the JSON that a command prints when it fails. */
function messageIn(text: string): string {
  try {
    return (JSON.parse(text) as { error: { message: string } }).error.message
  } catch {
    return text.trim()
  }
}

const settings = /^(PARLEY_|OTEL_|SMTP_)|^(HOST|PORT|PUBLIC_URL|DATABASE_URL|LOG_LEVEL)$/

const withoutSettings = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !settings.test(name)))
