import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { childEnv } from './child-env.ts'
import { newFolder, removeFolder } from './data-dir.ts'

/** An S3-compatible server, with one bucket. */
export interface FileStoreServer {
  url: string
  /** The settings of a service that uses it. */
  env: Record<string, string>
  /** The keys of all objects, except the one of checks. */
  objects(): string[]
  /** The path of the file with the bytes of an object. */
  pathOf(key: string): string
  stop(): Promise<void>
  /** Starts it again, with the same port and objects. */
  start(): Promise<void>
  /** Stops it and deletes everything. */
  remove(): Promise<void>
}

const bucket = 'parley-test'
/** The only credentials that the server knows. */
const credentials = 'S3RVER'

export async function startFileStore(): Promise<FileStoreServer> {
  const folder = newFolder()
  let child: ChildProcess | null = null
  let port = '0'
  const store: FileStoreServer = {
    url: '',
    env: {},
    objects: () =>
      readdirSync(join(folder, bucket), { recursive: true, encoding: 'utf8' })
        .flatMap((path) => /^(.*)\._S3rver_metadata\.json$/.exec(path)?.[1] ?? [])
        .filter((key) => !key.endsWith('parley-check')),
    pathOf: (key) => join(folder, bucket, `${key}._S3rver_object`),
    async stop() {
      const stopped = child
      child = null
      if (!stopped) return
      stopped.kill('SIGKILL')
      await once(stopped, 'exit')
    },
    async start() {
      const script = join(import.meta.dirname, 'file-store-process.ts')
      const started = spawn(process.execPath, [script, folder, port, bucket], {
        env: childEnv,
        stdio: ['pipe', 'pipe', 'inherit'],
      })
      child = started
      const exited = once(started, 'exit').then(() => Promise.reject(new Error('the file store did not start')))
      // It also ends after it has started.
      exited.catch(() => {})
      const [line] = (await Promise.race([once(createInterface(started.stdout), 'line'), exited])) as [string]
      port = line.replace('listening ', '')
    },
    async remove() {
      await store.stop()
      removeFolder(folder)
    },
  }
  await store.start()
  store.url = `http://127.0.0.1:${port}`
  store.env = {
    PARLEY_FILES_URL: `s3://${bucket}/files?endpoint=${store.url}`,
    AWS_ACCESS_KEY_ID: credentials,
    AWS_SECRET_ACCESS_KEY: credentials,
  }
  return store
}
