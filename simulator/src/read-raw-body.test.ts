import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { buffer } from 'node:stream/consumers'
import Fastify from 'fastify'
import { expect, onTestFinished, test } from 'vitest'
import { readRawBody } from './read-raw-body.ts'

async function post(head: string, body: string): Promise<string> {
  const server = Fastify({ bodyLimit: 20_000, forceCloseConnections: true })
  onTestFinished(() => server.close())
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', readRawBody)
  server.post('/', (request, reply) => reply.send(`${(request.body as Buffer).length}`))
  await server.listen({ host: '127.0.0.1', port: 0 })
  const socket = connect((server.server.address() as AddressInfo).port, '127.0.0.1')
  await once(socket, 'connect')
  socket.write(`POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: a/b\r\n${head}\r\n\r\n${body}`)
  return (await buffer(socket)).toString()
}

test('a body in one-byte chunks is read completely', async () => {
  const response = await post('Transfer-Encoding: chunked', `${'1\r\nx\r\n'.repeat(20_000)}0\r\n\r\n`)
  expect(response).toMatch(/^HTTP\/1.1 200 /)
  expect(response).toMatch(/\r\n\r\n20000$/)
})

test.each([
  ['Content-Length', 'Content-Length: 20001', ''],
  ['chunked', 'Transfer-Encoding: chunked', `${'1\r\nx\r\n'.repeat(20_001)}0\r\n\r\n`],
])('a body above the limit gets 413: %s', async (_kind, head, body) => {
  expect(await post(head, body)).toMatch(/^HTTP\/1.1 413 /)
})
