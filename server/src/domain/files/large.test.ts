import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { get } from 'node:http'
import { expect, test } from 'vitest'
import { digestOf, startFileHost } from '../../../testing/file-host.ts'
import { memoryOf, newFileService, whenFetched } from '../../../testing/file-service.ts'
import { fileOf } from '../../../testing/forms.ts'
import { until } from '../../../testing/until.ts'
import { maxFileBytes } from './fetch.ts'

// Other systems do not tell the most that a process ever had.
const canMeasure = existsSync('/proc/self/status')

test.runIf(canMeasure)(
  '100 MB are fetched without being held, and given out, also to who reads slowly, with less than 50 MB of memory',
  async () => {
    const host = await startFileHost()
    const files = await newFileService(host)
    for (const [id, size] of sizes) host.files.set(id, { size })
    const fetching = await files.start()
    const fetched = new Map<string, string>()
    const peaks: number[] = []
    for (const [id, size] of sizes) {
      const response = await files.submit(fetching, [id], digestOf(size))
      await whenFetched(files, response)
      fetched.set(id, fileOf(`frs_${response}`))
      peaks.push(memoryOf(fetching.child.pid).peakMb)
    }
    // Node lets some 60 MB of read buffers pile up before it collects them, even of a download that nobody keeps.
    const [small = 0, large = 0] = peaks
    expect(large - small).toBeLessThan(90)

    const giving = await files.start()
    const headers = { authorization: `Bearer ${files.secret}` }
    const ask = (id: string) => fetch(`${giving.url}${fetched.get(id)}`, { headers })
    await (await ask('small')).arrayBuffer()
    const before = memoryOf(giving.child.pid).nowMb
    const stuck = get(`${giving.url}${fetched.get('large')}`, { headers }, (answer) => void answer.pause())
    stuck.on('error', () => {})
    const answer = await ask('large')
    expect([answer.status, answer.headers.get('content-length')]).toEqual([200, String(maxFileBytes)])
    const hash = createHash('sha256')
    for await (const chunk of answer.body ?? []) hash.update(chunk)
    expect(hash.digest('base64')).toBe(digestOf(maxFileBytes))
    expect(memoryOf(giving.child.pid).peakMb - before).toBeLessThan(50)
    stuck.destroy()
  },
  60_000,
)

const sizes = [
  ['small', 10_000_000],
  ['large', maxFileBytes],
] as const

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
  expect([host.asked.get('honest') ?? 0, host.asked.get('liar')]).toEqual([0, 1])
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
  expect(host.asked.get('f')).toBe(2)
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
