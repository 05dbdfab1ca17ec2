import { expect, test } from 'vitest'
import { fails, respond, serveScript } from '../testing/scripted.ts'
import { newClient } from './client.ts'

const key = 'prl_live_x'

test('a file is uploaded as multipart/form-data, once', async () => {
  const { baseUrl, requests } = await serveScript(respond(201, { id: 'med_1' }), fails(503, 'service_unavailable'))
  const { media } = newClient({ key, baseUrl })
  const file = new Blob(['hello'], { type: 'text/plain' })
  expect(await media.upload(file, { filename: 'a.txt' })).toEqual({ id: 'med_1' })
  expect(requests[0]).toMatchObject({ method: 'POST', url: '/v1/media' })
  expect(requests[0]?.headers['content-type']).toMatch(/^multipart\/form-data; boundary=/)
  expect(requests[0]?.body).toMatch(/name="file"; filename="a.txt"\r\nContent-Type: text\/plain\r\n\r\nhello\r\n/)
  await expect(media.upload(file)).rejects.toMatchObject({ status: 503 })
  expect(requests.length).toBe(2)
})

test('the file of a received message is retried while it is not ready', async () => {
  const notReady = fails(503, 'service_unavailable', { 'retry-after': '0' })
  const headers = { 'content-type': 'image/jpeg', 'content-disposition': 'attachment; filename="image.jpg"' }
  const { baseUrl, requests } = await serveScript(notReady, (response) => response.writeHead(200, headers).end('bytes'))
  const file = await newClient({ key, baseUrl }).media.ofMessage('msg_1')
  expect(file).toMatchObject({ name: 'image.jpg', type: 'image/jpeg' })
  expect(Buffer.from(await file.bytes()).toString()).toBe('bytes')
  expect(requests.map(({ url }) => url)).toEqual(Array(2).fill('/v1/inbound_messages/msg_1/media'))
})
