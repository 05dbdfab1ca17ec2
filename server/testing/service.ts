import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { dirname, join } from 'node:path'
import { bundleOf } from '../../scripts/prepare.mjs'
import type { Connection } from '../src/db/db.ts'
import { childEnv } from './child-env.ts'

export interface ServiceProcess {
  url: string
  /** Sends SIGTERM and returns the exit code. */
  stop(): Promise<number>
  child: ChildProcess
  /** Its standard output so far, including the log. */
  output(): string
}

/** The secret keys of `spawnService`, for tests that write encrypted values to the database. */
export const secretKeys = new Map([['test', Buffer.alloc(32, 7)]])

/** A connection as a DATABASE_URL. */
export function urlOf({ host, port, user, password, database }: Connection): string {
  return `postgresql://${user}:${password}@localhost:${port}/${database}?host=${encodeURIComponent(String(host))}`
}

const bundled = join(dirname(bundleOf(join(import.meta.dirname, '..', '..'))), 'service-process.mjs')

/**
 * Starts the service in a separate process, on an existing database. `openFiles` limits its file descriptors; `root` is the
 * folder of another version, or of this one to run its sources instead of the bundle.
 */
export async function spawnService(
  connection: Connection,
  env: Record<string, string> = {},
  { openFiles = 'unchanged', root }: { openFiles?: number | 'unchanged'; root?: string } = {},
): Promise<ServiceProcess> {
  const service = [process.execPath, root ? join(root, 'server', 'testing', 'service-process.ts') : bundled]
  const limited = openFiles === 'unchanged' ? [] : ['sh', '-c', `ulimit -n ${openFiles}; exec "$@"`, 'sh']
  const [command = '', ...args] = [...limited, ...service]
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...childEnv,
      HOST: '127.0.0.1',
      PORT: '0',
      LOG_LEVEL: 'error',
      DATABASE_URL: urlOf(connection),
      PARLEY_SECRET_KEYS: [...secretKeys].map(([name, key]) => `${name}:${key.toString('base64')}`).join(),
      ...env,
    },
  })
  let output = ''
  let errors = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors += text
    process.stderr.write(text)
  })
  const exited = once(child, 'exit') as Promise<[number]>
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      output += text
      const listening = /^listening (\S+)$/m.exec(output)
      if (listening?.[1]) resolve(listening[1])
    })
    void exited.then(([code]) => reject(new Error(`the service exited with ${code} before it listened: ${errors}`)))
  })
  return {
    url,
    child,
    output: () => output,
    async stop() {
      child.kill('SIGTERM')
      return (await exited)[0]
    },
  }
}
