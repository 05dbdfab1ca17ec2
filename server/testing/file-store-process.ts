// Runs an S3-compatible server in a separate process: folder, port, bucket. Prints its port, and ends with its parent.
import { createRequire } from 'node:module'

interface Server {
  run(): Promise<{ port: number }>
  store: { deleteObject(bucket: string, key: string): Promise<void> }
}

// The package has no types.
const S3rver = createRequire(import.meta.url)('@20minutes/s3rver') as new (options: object) => Server

const [directory, port, bucket] = process.argv.slice(2)
const options = { address: '127.0.0.1', port: Number(port), directory, silent: true }
const server = new S3rver({ ...options, configureBuckets: [{ name: bucket }] })
const { store } = server
const deleteObject = store.deleteObject.bind(store)
// S3 accepts the deletion of an object that does not exist. This server fails if there is no folder for it.
store.deleteObject = (name, key) =>
  deleteObject(name, key).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
console.log(`listening ${(await server.run()).port}`)
process.stdin.on('end', () => process.exit()).resume()
