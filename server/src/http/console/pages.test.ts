import { request } from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { useTestServer } from '../../../testing/test-server.ts'

const server = useTestServer()

test.each([
  ['br', brotliDecompressSync],
  ['gzip', gunzipSync],
] as const)(
  'with Accept-Encoding: %s the scripts are compressed and have the same content',
  async (encoding, unpack) => {
    const page = await fetch(server.url, { headers: { accept: 'text/html' } })
    // There is no page if the console was not built.
    if (!page.ok) return expect(page.status).toBe(404)
    const [, script = ''] = /<script[^>]* src="([^"]+)"/.exec(await page.text()) ?? []
    const plain = await get(script)
    expect(plain.headers).toMatchObject({
      vary: 'Accept-Encoding',
      'cache-control': 'public, max-age=31536000, immutable',
    })
    expect(plain.headers['content-encoding']).toBeUndefined()
    const compressed = await get(script, encoding)
    expect(compressed.headers).toMatchObject({ ...pick(plain.headers), 'content-encoding': encoding })
    expect(unpack(compressed.body).equals(plain.body)).toBe(true)
    expect(compressed.body.length).toBeLessThan(plain.body.length / 2)
  },
)

test('every client gets the start page, and only a browser the pages that the console routes itself', async () => {
  const page = await fetch(server.url, { headers: { accept: 'text/html' } })
  // There is no page if the console was not built.
  const found = page.ok ? 200 : 404
  const statusOf = async (path: string, accept: string, method = 'GET') =>
    (await fetch(server.url + path, { method, headers: { accept } })).status
  for (const method of ['GET', 'HEAD']) {
    expect(await statusOf('/', '*/*', method)).toBe(found)
    expect(await statusOf('/?from=mail', '*/*', method)).toBe(found)
    expect(await statusOf('/w/1/messages', 'text/html', method)).toBe(found)
    expect(await statusOf('/w/1/messages', '*/*', method)).toBe(404)
  }
  expect(await statusOf('/', '*/*', 'POST')).toBe(404)
})

const pick = (headers: Record<string, unknown>) =>
  Object.fromEntries(
    ['content-type', 'cache-control', 'vary', 'x-content-type-options'].map((name) => [name, headers[name]]),
  )

/** Not with fetch, which decompresses responses. */
function get(path: string, encoding = 'identity'): Promise<{ headers: Record<string, unknown>; body: Buffer }> {
  return new Promise((resolve, reject) => {
    request(server.url + path, { headers: { 'accept-encoding': encoding } }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => resolve({ headers: response.headers, body: Buffer.concat(chunks) }))
    })
      .on('error', reject)
      .end()
  })
}
