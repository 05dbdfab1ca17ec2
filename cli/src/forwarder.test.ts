import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { styleText } from 'node:util'
import { expect, onTestFinished, test, vi } from 'vitest'
import { freePort } from '../../testing/src/free-port.ts'
import { eventLine } from './event-line.ts'
import { Forwarder } from './forwarder.ts'

const body = Buffer.from(JSON.stringify({ id: 'e1', type: 'message.sent', data: {} }))

async function forwardTo(url: string): Promise<string> {
  const lines: string[] = []
  const log = vi.spyOn(console, 'log').mockImplementation((line) => void lines.push(String(line)))
  onTestFinished(() => log.mockRestore())
  const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
  const stopped = new AbortController().signal
  await new Forwarder({ url, secret, stopped, asJson: false, say: () => {} }).take(body)
  return lines.join('\n').replace(/in \d+ ms/, 'in N ms')
}

async function serverWith(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

test('the line of an event says how the receiver responded', async () => {
  const redirect = await serverWith((_request, response) =>
    response.writeHead(302, { location: 'https://other.example/hook' }).end(),
  )
  expect(await forwardTo(redirect)).toMatch(
    /→ 302 in N ms\. Redirects are not followed: https:\/\/other\.example\/hook$/,
  )
  const broken = await serverWith((request) => request.socket.destroy())
  expect(await forwardTo(broken)).toMatch(/→ FAILED: .+ in N ms$/)
  // Both addresses of localhost refuse.
  expect(await forwardTo(`http://localhost:${await freePort()}/`)).toMatch(/→ FAILED: .*ECONNREFUSED.* in N ms$/)
  expect(await forwardTo(await serverWith((_request, response) => response.writeHead(500).end()))).toMatch(
    /→ 500 in N ms$/,
  )
})

test.each([
  [199, 'red'],
  [200, 'green'],
  [299, 'green'],
  [300, 'red'],
] as const)('in a terminal, the status %i is %s', (status, color) => {
  vi.stubEnv('FORCE_COLOR', '1')
  onTestFinished(() => void vi.unstubAllEnvs())
  const sent = { status, error: null, location: null, duration_ms: 1 }
  const line = eventLine({ at: new Date(), type: 'message.sent', id: 'e1', sent })
  expect(line).toContain(styleText(color, String(status), { validateStream: false }))
})
