import { openAsBlob, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { fails, respond, serveScript } from '../testing/scripted.ts'
import { Parley } from './client.ts'

const key = 'prl_live_x'

test('a file is uploaded as multipart/form-data, once', async () => {
  const { baseUrl, requests } = await serveScript(respond(201, { id: 'med_1' }), fails(503, 'service_unavailable'))
  const { media } = new Parley({ key, baseUrl })
  const file = new Blob(['hello'], { type: 'text/plain' })
  expect(await media.upload(file, { filename: 'a.txt' })).toEqual({ id: 'med_1' })
  expect(requests[0]).toMatchObject({ method: 'POST', url: '/v1/media' })
  expect(requests[0]?.headers['content-type']).toMatch(/^multipart\/form-data; boundary=/)
  expect(requests[0]?.body).toMatch(/name="file"; filename="a.txt"\r\nContent-Type: text\/plain\r\n\r\nhello\r\n/)
  await expect(media.upload(file)).rejects.toMatchObject({ status: 503 })
  expect(requests.length).toBe(2)
})

test('a file keeps its own name, and a file of the disk is sent while it is read', async () => {
  const { baseUrl, requests } = await serveScript(respond(201, { id: 'med_1' }))
  const { media } = new Parley({ key, baseUrl })
  await media.upload(new File(['hello'], 'offer.pdf', { type: 'application/pdf' }))
  await media.upload(await openAsBlob(import.meta.filename, { type: 'text/plain' }))
  expect(requests[0]?.body).toMatch(/filename="offer.pdf"\r\nContent-Type: application\/pdf\r\n\r\nhello\r\n/)
  expect(requests[1]?.body).toContain(`\r\n\r\n${readFileSync(import.meta.filename, 'utf8')}\r\n`)
})

test('a download that breaks off is an error of the client, and the content is read once', async () => {
  const { baseUrl } = await serveScript(
    (response) => {
      response.writeHead(200, { 'content-length': '10' }).write('half')
      setTimeout(() => response.destroy(), 50)
    },
    (response) => response.writeHead(200).end('whole'),
  )
  const { media } = new Parley({ key, baseUrl })
  const broken = await media.ofMessage('msg_1')
  await expect(broken.bytes()).rejects.toMatchObject({ name: 'ParleyError', code: 'connection_failed' })
  const whole = await media.ofMessage('msg_1')
  expect(Buffer.from(await whole.bytes()).toString()).toBe('whole')
  await expect(whole.bytes()).rejects.toThrow('already read')
})

test('an ID that would request something else is refused', async () => {
  const { baseUrl, requests } = await serveScript(respond(200, {}))
  const parley = new Parley({ key, baseUrl })
  for (const id of ['', '.', '..', undefined as unknown as string]) {
    for (const call of [
      parley.messages.get(id),
      parley.senders.get(id),
      parley.templates.get(id),
      parley.inboundMessages.get(id),
      parley.inboundMessages.markAsRead(id),
      parley.media.ofMessage(id),
      parley.flowResponses.get(id),
      parley.flowResponses.file(id, 0),
    ]) {
      await expect(call).rejects.toThrow('The ID is missing')
    }
  }
  await parley.messages.get('a/../b?c')
  expect(requests.map(({ url }) => url)).toEqual(['/v1/messages/a%2F..%2Fb%3Fc'])
})

test('the file of a received message is retried while it is not ready', async () => {
  const notReady = fails(503, 'service_unavailable', { 'retry-after': '0' })
  const headers = { 'content-type': 'image/jpeg', 'content-disposition': 'attachment; filename="image.jpg"' }
  const { baseUrl, requests } = await serveScript(notReady, (response) => response.writeHead(200, headers).end('bytes'))
  const file = await new Parley({ key, baseUrl }).media.ofMessage('msg_1')
  expect(file).toMatchObject({ name: 'image.jpg', type: 'image/jpeg' })
  expect(Buffer.from(await file.bytes()).toString()).toBe('bytes')
  expect(requests.map(({ url }) => url)).toEqual(Array(2).fill('/v1/inbound_messages/msg_1/media'))
})
