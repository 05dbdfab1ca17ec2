import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Connection } from '../src/db/db.ts'
import { childEnv } from './child-env.ts'

export interface ServiceProcess {
  url: string
  /** Ends it as an operator would, and gives its exit code. */
  stop(): Promise<number>
  child: ChildProcess
  /** Everything it has written to standard output, its log included. */
  output(): string
}

/** Those of `spawnService`, for tests that write what the service is to open. */
export const secretKeys = new Map([['test', Buffer.alloc(32, 7)]])

/** A connection as a URL, for processes that are started. */
export function urlOf({ host, port, user, password, database }: Connection): string {
  return `postgresql://${user}:${password}@localhost:${port}/${database}?host=${encodeURIComponent(String(host))}`
}

/** The service in a process of its own, on a database that is there already. */
export async function spawnService(connection: Connection, env: Record<string, string> = {}): Promise<ServiceProcess> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'service-process.ts')], {
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
    void exited.then(([code]) => reject(new Error(`the service ended with ${code} before it listened: ${errors}`)))
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
