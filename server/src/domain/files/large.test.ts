import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { digestOf, type FileHost, startFileHost } from '../../../testing/file-host.ts'
import { type FormFiles, newFormFiles, whenFetched } from '../../../testing/file-service.ts'
import { fileOf } from '../../../testing/forms.ts'
import { mayIdle } from '../../../testing/may-idle.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { until } from '../../../testing/until.ts'
import { newLogger } from '../../telemetry/logger.ts'
import { maxFileBytes } from './fetch.ts'
import { newFetcher } from './fetcher.ts'

const server = useTestServer()
let host: FileHost
let files: FormFiles
beforeEach(async () => {
  await server.db.script('delete from file_chunks; delete from flow_files')
  host = await startFileHost()
  files = await newFormFiles(server, host)
})

/** Starts a fetcher, as a process has one, with the files that are due. */
async function startFetching() {
  const fetcher = newFetcher(server.runtime.network, newLogger('silent'))
  onTestFinished(() => fetcher.stop())
  await fetcher.turn()
  return fetcher
}

const chunkCount = async () => (await server.db.rows('select 1 from file_chunks')).length

const download = (responseId: string) =>
  fetch(server.url + fileOf(`frs_${responseId}`), { headers: { authorization: `Bearer ${files.secret}` } })

/** Several times what the buffers of a connection hold. */
const largeBytes = 32 * 1024 * 1024

test('a large file is fetched no faster than it is stored, and read no faster than the client takes it', async () => {
  host.files.set('large', { size: largeBytes })
  const responseId = await files.submit(server, ['large'], digestOf(largeBytes))
  await startFetching()
  await until('the first chunks are stored', async () => (await chunkCount()) > 0)
  await server.db.transaction(async (tx) => {
    await mayIdle(tx)
    await tx.rows('lock table file_chunks in exclusive mode')
    const stored = await tx.first<{ bytes: number }>('select sum(length(bytes))::int as bytes from file_chunks')
    let [sent, since] = [0, performance.now()]
    await until('the host sends no more', () => {
      const now = host.bytesSent.get('large') ?? 0
      if (now !== sent) [sent, since] = [now, performance.now()]
      return performance.now() - since > 250
    })
    // Most of this is in socket buffers.
    expect(sent - (stored?.bytes ?? 0)).toBeLessThan(largeBytes / 2)
  })
  await whenFetched(files, responseId)

  const headers = { authorization: `Bearer ${files.secret}` }
  const [response] = (await once(get(server.url + fileOf(`frs_${responseId}`), { headers }), 'response')) as [
    IncomingMessage,
  ]
  expect([response.statusCode, response.headers['content-length']]).toEqual([200, String(largeBytes)])
  // The client gets no further than the chunks that are left, which shows that nothing was read ahead.
  await server.db.change('delete from file_chunks where number >= (select max(number) / 2 from file_chunks)')
  let taken = 0
  await expect(async () => {
    for await (const chunk of response) taken += chunk.length
  }).rejects.toThrow(/aborted/)
  expect(taken).toBeLessThan(largeBytes * 0.6)
})

test('a file that is too large according to the network is not fetched', async () => {
  host.files.set('f', { size: maxFileBytes + 1 })
  const responseId = await files.submit(server, ['f'])
  await startFetching()
  await until('the file is given up', async () => (await files.state(responseId)) === 'gone')
  const response = await download(responseId)
  const { error } = (await response.json()) as { error: { code: string; message: string } }
  expect([response.status, error.code]).toEqual([410, 'file_expired'])
  expect(error.message).toContain('larger than 100 MB')
  expect(host.requests.get('f')).toBeUndefined()
})

test('after a process is killed while fetching, the next one fetches the complete file again', async () => {
  const size = 3_000_000
  host.files.set('f', { size, stallAt: 2_000_000 })
  const responseId = await files.submit(server, ['f'], digestOf(size))
  // It stalls, and never gets further.
  await startFetching()
  await until('the first chunks are stored', async () => (await chunkCount()) >= 7)
  host.files.set('f', { size })
  expect(await files.state(responseId)).toBe('fetching')
  // As if the lease of the killed process had expired.
  await server.db.change('update flow_files set due_at = $1', [server.clock.now()])
  await (await startFetching()).drain()
  expect(await files.state(responseId)).toBe('fetched')
  const bytes = Buffer.from(await (await download(responseId)).arrayBuffer())
  expect(createHash('sha256').update(bytes).digest('base64')).toBe(digestOf(size))
  expect(await server.db.rows('select distinct lease from file_chunks')).toHaveLength(1)
  expect(host.requests.get('f')).toBe(2)
})

test('a process that is stopped while fetching releases the file immediately', async () => {
  host.files.set('f', { size: 3_000_000, stallAt: 2_000_000 })
  const responseId = await files.submit(server, ['f'])
  const first = await startFetching()
  await until('the first chunks are stored', async () => (await chunkCount()) >= 7)
  await first.stop()
  expect(await server.db.rows('select state, attempts from flow_files')).toEqual([{ state: 'waiting', attempts: 0 }])
  host.files.set('f', { size: 3_000_000 })
  await (await startFetching()).drain()
  expect(await files.state(responseId)).toBe('fetched')
})

test('downloads of one workspace that stall do not delay those of another', async () => {
  const other = await files.addWorkspace()
  const stalling = Array.from({ length: 40 }, (_, n) => `stalls${n}`)
  for (const id of stalling) host.files.set(id, { size: 1_000_000, stallAt: 65_536 })
  const size = 300_000
  host.files.set('quick', { size })
  for (let first = 0; first < stalling.length; first += 10)
    await files.submit(server, stalling.slice(first, first + 10))
  const fetcher = await startFetching()
  await until('several downloads have stalled', () => host.requests.size >= 4)
  const quick = await files.submit(server, ['quick'], digestOf(size), other)
  await fetcher.turn()
  await whenFetched(files, quick)
})
