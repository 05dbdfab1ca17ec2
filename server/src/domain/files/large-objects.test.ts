import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { digestOf, startFileHost } from '../../../testing/file-host.ts'
import { newFileService } from '../../../testing/file-service.ts'
import { startFileStore } from '../../../testing/file-store.ts'
import { fileOf } from '../../../testing/forms.ts'
import { until } from '../../../testing/until.ts'
import { maxFileBytes } from './fetch.ts'

/** The memory of a process, in bytes. */
const memoryOf = (pid: number | undefined): number =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024

test.runIf(process.platform === 'linux')(
  'a 100 MB file is moved to the store in little memory, and read from it no faster than the client takes it',
  async () => {
    const host = await startFileHost()
    const store = await startFileStore()
    onTestFinished(() => store.remove())
    const files = await newFileService(host)
    const service = await files.start(store.env)
    const headers = { authorization: `Bearer ${files.secret}` }
    let peak = 0
    const sampling = setInterval(() => {
      peak = Math.max(peak, memoryOf(service.child.pid))
    }, 20)
    onTestFinished(() => clearInterval(sampling))
    const storeFile = async (id: string, size: number) => {
      host.files.set(id, { size })
      const responseId = await files.submit(service, [id], digestOf(size))
      const moved = 'select 1 from flow_files where response_id = $1 and object_key is not null'
      await until('the file is moved', async () => (await files.db.rows(moved, [responseId])).length > 0, 180_000)
      return fileOf(`frs_${responseId}`)
    }
    // So that everything is loaded.
    const small = await storeFile('small', 1_000_000)
    expect((await fetch(service.url + small, { headers })).status).toBe(200)
    const before = memoryOf(service.child.pid)

    // Two at once: what is not collected yet of one is about as much as one file.
    peak = 0
    const [path = ''] = await Promise.all(['large', 'second'].map((id) => storeFile(id, maxFileBytes)))
    expect(peak - before).toBeLessThan(maxFileBytes * 1.5)
    await until(
      'the chunks are deleted',
      async () => (await files.db.rows('select 1 from file_chunks')).length === 0,
      60_000,
    )
    const [response] = (await once(get(service.url + path, { headers }), 'response')) as [IncomingMessage]
    expect([response.statusCode, response.headers['content-length']]).toEqual([200, String(maxFileBytes)])
    // The client gets no further than what is on its way, which shows that nothing was read ahead.
    await store.stop()
    let taken = 0
    await expect(async () => {
      for await (const chunk of response) taken += chunk.length
    }).rejects.toThrow(/aborted/)
    expect(taken).toBeLessThan(maxFileBytes * 0.6)
    expect(memoryOf(service.child.pid) - before).toBeLessThan(maxFileBytes * 1.5)
  },
  240_000,
)
