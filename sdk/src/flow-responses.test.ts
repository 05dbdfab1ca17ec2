import { buffer } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { fails, respond, serveScript } from '../testing/scripted.ts'
import { Parley } from './client.ts'
import { fileName } from './flow-responses.ts'

const key = 'prl_live_x'
const headers = {
  'content-type': 'image/jpeg',
  'content-disposition': `attachment; filename="a.jpg"; filename*=UTF-8''%C3%A1rbol.jpg`,
}
const bytes = Buffer.from([0xff, 0xd8, 0, 1, 2, 3])

test('form submissions can be listed and read', async () => {
  const { baseUrl, requests } = await serveScript(respond(200, { data: [{ id: 'frs_1' }], has_more: false }))
  const { flowResponses } = new Parley({ key, baseUrl })
  const query = { flow_id: '8', received_after: new Date('2026-11-15T09:00:00Z') }
  expect(await flowResponses.list(query).all()).toEqual([{ id: 'frs_1' }])
  await flowResponses.get('frs_1')
  const urls = ['/v1/flow_responses?flow_id=8&received_after=2026-11-15T09%3A00%3A00.000Z', '/v1/flow_responses/frs_1']
  expect(requests.map(({ url }) => url)).toEqual(urls)
})

test('a file has a name and a type, and can be read as bytes or as a stream', async () => {
  const { baseUrl, requests } = await serveScript((response) => response.writeHead(200, headers).end(bytes))
  const { flowResponses } = new Parley({ key, baseUrl })
  const file = await flowResponses.file('frs_1', 0)
  expect(file).toMatchObject({ name: 'árbol.jpg', type: 'image/jpeg' })
  expect(Buffer.from(await file.bytes())).toEqual(bytes)
  const { stream } = await flowResponses.file('frs_1', 0)
  expect(await buffer(stream)).toEqual(bytes)
  expect(requests[0]?.url).toBe('/v1/flow_responses/frs_1/files/0')
})

test('a file that is not ready is retried, an expired one is not', async () => {
  const notReady = fails(503, 'service_unavailable', { 'retry-after': '0' })
  const { baseUrl, requests } = await serveScript(
    notReady,
    (response) => response.writeHead(200, headers).end(bytes),
    fails(410, 'file_expired'),
  )
  const { flowResponses } = new Parley({ key, baseUrl })
  expect((await flowResponses.file('frs_1', 0)).size).toBe(null)
  await expect(flowResponses.file('frs_1', 0)).rejects.toMatchObject({ status: 410, code: 'file_expired' })
  expect(requests.length).toBe(3)
})

test('the timeout does not abort reading a large file, the signal does', async () => {
  const { baseUrl } = await serveScript((response) => {
    response.writeHead(200, headers).write(bytes)
    setTimeout(() => response.write(bytes), 200)
  })
  const controller = new AbortController()
  const options = { timeoutMs: 100, signal: controller.signal }
  const reader = (await new Parley({ key, baseUrl }).flowResponses.file('frs_1', 0, options)).stream.getReader()
  await reader.read()
  expect((await reader.read()).value?.length).toBe(bytes.length)
  const why = new Error('enough')
  controller.abort(why)
  await expect(reader.read()).rejects.toBe(why)
})

test.each([
  ['attachment', null],
  ['attachment; filename="a b.jpg"', 'a b.jpg'],
  ['attachment; filename="say \\"hi\\".txt"', 'say "hi".txt'],
  ['attachment; filename=plain.txt', 'plain.txt'],
  [`attachment; filename*=UTF-8''na%C3%AFve%20plan.pdf; filename="naive.pdf"`, 'naïve plan.pdf'],
  [`attachment; filename="safe.pdf"; filename*=UTF-8''%zz`, 'safe.pdf'],
])('Content-Disposition: %s', (disposition, name) => {
  expect(fileName(disposition)).toBe(name)
})
