import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { digestOf, startFileHost } from '../../../testing/file-host.ts'
import { newFileService, whenFetched } from '../../../testing/file-service.ts'
import { fileOf } from '../../../testing/forms.ts'
import { until } from '../../../testing/until.ts'
import { maxFileBytes } from './fetch.ts'

test('100 MB are fetched no faster than they are kept, and read no faster than they are taken', async () => {
  const host = await startFileHost()
  const files = await newFileService(host)
  const service = await files.start()
  host.files.set('large', { size: maxFileBytes })
  const response = await files.submit(service, ['large'], digestOf(maxFileBytes))
  await until('some of it is here', async () => (await files.db.rows('select 1 from file_chunks')).length > 0)
  await files.db.transaction(async (tx) => {
    await tx.rows('lock table file_chunks in exclusive mode')
    const kept = await tx.first<{ bytes: number }>('select sum(length(bytes))::int as bytes from file_chunks')
    let seen = 0
    const sent = await until('no more of it comes', async () => {
      const before = seen
      await sleep(250)
      seen = host.bytesSent.get('large') ?? 0
      return seen === before && seen
    })
    // Most of this is in the sockets.
    expect(sent - (kept?.bytes ?? 0)).toBeLessThan(maxFileBytes / 3)
  })
  await whenFetched(files, response)

  const headers = { authorization: `Bearer ${files.secret}` }
  const [answer] = (await once(get(service.url + fileOf(`frs_${response}`), { headers }), 'response')) as [
    IncomingMessage,
  ]
  expect([answer.statusCode, answer.headers['content-length']]).toEqual([200, String(maxFileBytes)])
  // Whoever takes the rest later gets no further than what is still kept: nothing was read ahead for them.
  await files.db.change('delete from file_chunks where number >= (select max(number) / 2 from file_chunks)')
  let taken = 0
  await expect(async () => {
    for await (const chunk of answer) taken += chunk.length
  }).rejects.toThrow(/aborted/)
  expect(taken).toBeLessThan(maxFileBytes * 0.6)
}, 60_000)

test('a file larger than is kept is not kept, whatever the network says of its size', async () => {
  const host = await startFileHost()
  const files = await newFileService(host)
  const service = await files.start()
  host.files.set('honest', { size: maxFileBytes + 1 }).set('liar', { size: maxFileBytes + 1, claimedSize: 5 })
  for (const id of ['honest', 'liar']) {
    const response = await files.submit(service, [id])
    await until('it is given up', async () => (await files.state(response)) === 'gone')
    const answer = await fetch(service.url + fileOf(`frs_${response}`), {
      headers: { authorization: `Bearer ${files.secret}` },
    })
    const { error } = (await answer.json()) as { error: { code: string; message: string } }
    expect([answer.status, error.code]).toEqual([410, 'file_expired'])
    expect(error.message).toContain('larger than the service keeps')
  }
  expect([host.requests.get('honest') ?? 0, host.requests.get('liar')]).toEqual([0, 1])
  expect(await files.db.rows('select 1 from file_chunks')).toEqual([])
}, 40_000)

test('killed in the midst of a file, the next process fetches it again, whole', async () => {
  const host = await startFileHost()
  const files = await newFileService(host)
  const size = 3_000_000
  host.files.set('f', { size, stallAt: 2_000_000 })
  const first = await files.start()
  const response = await files.submit(first, ['f'], digestOf(size))
  await until('some of it is here', async () => (await files.db.rows('select 1 from file_chunks')).length >= 7)
  first.child.kill('SIGKILL')
  host.files.set('f', { size })
  const second = await files.start()
  expect(await files.state(response)).toBe('fetching')
  // As if the lease of the dead had run out.
  await files.db.change('update flow_files set due_at = now()')
  await whenFetched(files, response)
  const answer = await fetch(second.url + fileOf(`frs_${response}`), {
    headers: { authorization: `Bearer ${files.secret}` },
  })
  const bytes = Buffer.from(await answer.arrayBuffer())
  expect(createHash('sha256').update(bytes).digest('base64')).toBe(digestOf(size))
  expect(await files.db.rows('select distinct lease from file_chunks')).toHaveLength(1)
  expect(host.requests.get('f')).toBe(2)
}, 40_000)

test('told to stop in the midst of a file, a process leaves it to the next at once', async () => {
  const host = await startFileHost()
  const files = await newFileService(host)
  host.files.set('f', { size: 3_000_000, stallAt: 2_000_000 })
  const first = await files.start()
  const response = await files.submit(first, ['f'])
  await until('some of it is here', async () => (await files.db.rows('select 1 from file_chunks')).length >= 7)
  expect(await first.stop()).toBe(0)
  expect(await files.db.rows('select state, attempts from flow_files')).toEqual([{ state: 'waiting', attempts: 0 }])
  host.files.set('f', { size: 3_000_000 })
  await files.start()
  await whenFetched(files, response)
}, 40_000)
