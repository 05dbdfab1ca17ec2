import { readdirSync } from 'node:fs'
import type { Server } from 'node:http'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { newFolder, removeFolder } from './data-dir.ts'

interface S3Server {
  run(): Promise<{ port: number }>
  httpServer: Server
  store: { deleteObject(bucket: string, key: string): Promise<void> }
}

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
  let running: Server | null = null
  let port = 0
  const store: FileStoreServer = {
    url: '',
    env: {},
    objects: () =>
      readdirSync(join(folder, bucket), { recursive: true, encoding: 'utf8' })
        .flatMap((path) => /^(.*)\._S3rver_metadata\.json$/.exec(path)?.[1] ?? [])
        .filter((key) => !key.endsWith('parley-check')),
    pathOf: (key) => join(folder, bucket, `${key}._S3rver_object`),
    async stop() {
      const stopped = running
      running = null
      if (!stopped) return
      const closed = new Promise((resolve) => stopped.close(resolve))
      stopped.closeAllConnections()
      await closed
    },
    async start() {
      const server = newServer({ address: '127.0.0.1', port, directory: folder, silent: true })
      port = (await server.run()).port
      running = server.httpServer
      // It would close its log while requests still write to it.
      running.removeAllListeners('close')
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

function newServer(options: object): S3Server {
  // The package has no types, and is loaded by the tests that need it only.
  const S3rver = createRequire(import.meta.url)('@20minutes/s3rver') as new (options: object) => S3Server
  const server = new S3rver({ ...options, configureBuckets: [{ name: bucket }] })
  const deleteObject = server.store.deleteObject.bind(server.store)
  // S3 accepts the deletion of an object that does not exist. This server fails if there is no folder for it.
  server.store.deleteObject = (name, key) =>
    deleteObject(name, key).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
    })
  return server
}
