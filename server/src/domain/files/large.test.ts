import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { digestOf, startFileHost } from '../../../testing/file-host.ts'
import { newFileService, whenFetched } from '../../../testing/file-service.ts'
import { fileOf } from '../../../testing/forms.ts'
import { mayIdle } from '../../../testing/may-idle.ts'
import { until } from '../../../testing/until.ts'
import { maxFileBytes } from './fetch.ts'

test('a 100 MB file is fetched no faster than it is stored, and read no faster than the client takes it', async () => {
  const host = await startFileHost()
  const files = await newFileService(host)
  const service = await files.start()
  host.files.set('large', { size: maxFileBytes })
  const responseId = await files.submit(service, ['large'], digestOf(maxFileBytes))
  await until('the first chunks are stored', async () => (await files.db.rows('select 1 from file_chunks')).length > 0)
  await files.db.transaction(async (tx) => {
    await mayIdle(tx)
    await tx.rows('lock table file_chunks in exclusive mode')
    const stored = await tx.first<{ bytes: number }>('select sum(length(bytes))::int as bytes from file_chunks')
    let sentSoFar = 0
    const sent = await until('the host sends no more', async () => {
      const before = sentSoFar
      await sleep(250)
      sentSoFar = host.bytesSent.get('large') ?? 0
      return sentSoFar === before && sentSoFar
    })
    // Most of this is in socket buffers.
    expect(sent - (stored?.bytes ?? 0)).toBeLessThan(maxFileBytes / 3)
  })
  await whenFetched(files, responseId)

  const headers = { authorization: `Bearer ${files.secret}` }
  const [response] = (await once(get(service.url + fileOf(`frs_${responseId}`), { headers }), 'response')) as [
    IncomingMessage,
  ]
  expect([response.statusCode, response.headers['content-length']]).toEqual([200, String(maxFileBytes)])
  // The client gets no further than the chunks that are left, which shows that nothing was read ahead.
  await files.db.change('delete from file_chunks where number >= (select max(number) / 2 from file_chunks)')
  let taken = 0
  await expect(async () => {
    for await (const chunk of response) taken += chunk.length
  }).rejects.toThrow(/aborted/)
  expect(taken).toBeLessThan(maxFileBytes * 0.6)
})

test('a file above the size limit is not stored, also if the network reports a smaller size', async () => {
  const host = await startFileHost()
  const files = await newFileService(host)
  const service = await files.start()
  host.files.set('reported', { size: maxFileBytes + 1 }).set('misreported', { size: maxFileBytes + 1, claimedSize: 5 })
  for (const id of ['reported', 'misreported']) {
    const responseId = await files.submit(service, [id])
    await until('the file is given up', async () => (await files.state(responseId)) === 'gone')
    const response = await fetch(service.url + fileOf(`frs_${responseId}`), {
      headers: { authorization: `Bearer ${files.secret}` },
    })
    const { error } = (await response.json()) as { error: { code: string; message: string } }
    expect([response.status, error.code]).toEqual([410, 'file_expired'])
    expect(error.message).toContain('larger than 100 MB')
  }
  expect([host.requests.get('reported') ?? 0, host.requests.get('misreported')]).toEqual([0, 1])
  expect(await files.db.rows('select 1 from file_chunks')).toEqual([])
})

test('after a process is killed while fetching, the next one fetches the complete file again', async () => {
  const host = await startFileHost()
  const files = await newFileService(host)
  const size = 3_000_000
  host.files.set('f', { size, stallAt: 2_000_000 })
  const first = await files.start()
  const responseId = await files.submit(first, ['f'], digestOf(size))
  await until('the first chunks are stored', async () => (await files.db.rows('select 1 from file_chunks')).length >= 7)
  first.child.kill('SIGKILL')
  host.files.set('f', { size })
  const second = await files.start()
  expect(await files.state(responseId)).toBe('fetching')
  // As if the lease of the killed process had expired.
  await files.db.change('update flow_files set due_at = now()')
  await whenFetched(files, responseId)
  const response = await fetch(second.url + fileOf(`frs_${responseId}`), {
    headers: { authorization: `Bearer ${files.secret}` },
  })
  const bytes = Buffer.from(await response.arrayBuffer())
  expect(createHash('sha256').update(bytes).digest('base64')).toBe(digestOf(size))
  expect(await files.db.rows('select distinct lease from file_chunks')).toHaveLength(1)
  expect(host.requests.get('f')).toBe(2)
})

test('a process that is stopped while fetching releases the file immediately', async () => {
  const host = await startFileHost()
  const files = await newFileService(host)
  host.files.set('f', { size: 3_000_000, stallAt: 2_000_000 })
  const first = await files.start()
  const responseId = await files.submit(first, ['f'])
  await until('the first chunks are stored', async () => (await files.db.rows('select 1 from file_chunks')).length >= 7)
  expect(await first.stop()).toBe(0)
  expect(await files.db.rows('select state, attempts from flow_files')).toEqual([{ state: 'waiting', attempts: 0 }])
  host.files.set('f', { size: 3_000_000 })
  await files.start()
  await whenFetched(files, responseId)
})

test('downloads of one workspace that stall do not delay those of another', async () => {
  const host = await startFileHost()
  const files = await newFileService(host)
  const other = await files.addWorkspace()
  const service = await files.start()
  const stalling = Array.from({ length: 40 }, (_, n) => `stalls${n}`)
  for (const id of stalling) host.files.set(id, { size: 1_000_000, stallAt: 65_536 })
  const size = 300_000
  host.files.set('quick', { size })
  for (let first = 0; first < stalling.length; first += 10)
    await files.submit(service, stalling.slice(first, first + 10))
  await until('several downloads have stalled', () => host.requests.size >= 4)
  await whenFetched(files, await files.submit(service, ['quick'], digestOf(size), other))
})
