import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, onTestFinished, test } from 'vitest'
import { mayIdle } from '../../testing/may-idle.ts'
import { newApp } from '../../testing/network-app.ts'
import { type RawConnection, rawConnection } from '../../testing/raw.ts'
import { useTestServer } from '../../testing/test-server.ts'
import { until } from '../../testing/until.ts'
import { newWorkspace } from '../../testing/workspace.ts'
import { newUuid } from '../lib/ids.ts'

/** Each chunk is a Buffer that takes more than 200 bytes of heap. The service copies its byte and must not keep it. */
const server = useTestServer()
const wrongSignature = `X-Hub-Signature-256: sha256=${'0'.repeat(64)}\r\n`

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

function heapBytes(): number {
  collectGarbage()
  return process.memoryUsage().heapUsed
}

/** Sends a chunked request in one-byte chunks, without ending it, and returns how many bytes of heap each chunk takes. */
async function sendOneByteChunks(
  head: string,
  count: number,
): Promise<{ connection: RawConnection; bytesPerChunk: number }> {
  const before = heapBytes()
  const connection = await rawConnection(server.url)
  onTestFinished(() => void connection.socket.destroy())
  connection.send(`${head}Host: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`)
  connection.send('1\r\nx\r\n'.repeat(count))
  await until('the service has read the body', async () => {
    const metrics = await (await fetch(`${server.url}/metrics`)).text()
    return Number(/^parley_http_body_bytes (\d+)$/m.exec(metrics)?.[1]) >= count
  })
  return { connection, bytesPerChunk: (heapBytes() - before) / count }
}

// More than the service reads before a handler requests the body.
test.each([
  ['the ingress', 401, async () => `POST /network/whatsapp/${(await newApp(server)).id} HTTP/1.1\r\n${wrongSignature}`],
  [
    '/v1',
    400,
    async () => `POST /v1/messages HTTP/1.1\r\nAuthorization: Bearer ${(await newWorkspace(server)).secret}\r\n`,
  ],
  ['the console', 400, async () => 'POST /console/api/sign-in HTTP/1.1\r\nOrigin: http://x\r\n'],
])('%s does not keep the chunks of a body of one-byte chunks', async (_where, status, head) => {
  const { connection, bytesPerChunk } = await sendOneByteChunks(await head(), 70_000)
  expect(bytesPerChunk).toBeLessThan(100)
  connection.send('0\r\n\r\n')
  expect(await connection.responses(1)).toMatchObject([{ status }])
})

test('requests that wait for the database do not keep one-byte chunks in memory', async () => {
  await server.db.transaction(async (tx) => {
    await mayIdle(tx)
    await tx.rows('lock table apps in access exclusive mode')
    const { bytesPerChunk } = await sendOneByteChunks(
      `POST /network/whatsapp/${newUuid()} HTTP/1.1\r\n${wrongSignature}`,
      10_000,
    )
    expect(bytesPerChunk).toBeLessThan(100)
  })
})
