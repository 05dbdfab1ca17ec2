import { get, request } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { expect, test } from 'vitest'
import { freePort } from '../../testing/src/free-port.ts'
import { findOtherSite } from './guard.ts'
import { appId, demoSecrets, newWorld, numberId, phone, wabaId } from './testing/world.ts'

/** A request with the local address of its connection, its Host header and its Origin header. */
const requestFrom = ([localAddress, host, origin]: string[]) =>
  ({ headers: { host, ...(origin === undefined ? {} : { origin }) }, socket: { localAddress } }) as FastifyRequest

const names = ['simulator.lan']

test.each([
  ['a tool on this machine', '127.0.0.1', 'localhost:8090'],
  ['a tool on this machine, by IPv6', '::1', '[::1]:8090'],
  ['the handset', '127.0.0.1', '127.0.0.1:8090', 'http://127.0.0.1:8090'],
  ['a page of another server on this machine', '127.0.0.1', '127.0.0.1:8090', 'http://localhost:5173'],
  ['a tool that uses the configured name', '192.168.1.5', 'simulator.lan:8090'],
  ['the handset under the configured name', '192.168.1.5', 'simulator.lan:8090', 'http://simulator.lan:8090'],
  ['the handset on the network', '192.168.1.5', '192.168.1.5:8090', 'http://192.168.1.5:8090'],
  ['the handset on the network, by IPv6', 'fd00::5', '[fd00::5]:8090', 'http://[fd00::5]:8090'],
])('%s can use the simulator', (_who, ...from) => {
  expect(findOtherSite(requestFrom(from), names)).toBeUndefined()
})

test.each([
  ['another site', '127.0.0.1', '127.0.0.1:8090', 'https://evil.example'],
  ['another site, on the network', '192.168.1.5', '192.168.1.5:8090', 'https://evil.example'],
  ['another machine on the network', '192.168.1.5', '192.168.1.5:8090', 'http://192.168.1.6:8090'],
  ['another port of the same machine', '192.168.1.5', '192.168.1.5:8090', 'http://192.168.1.5:80'],
  ['a domain that resolves to this machine', '127.0.0.1', 'evil.example:8090', 'http://evil.example:8090'],
  ['a domain that resolves to this machine, without an Origin', '127.0.0.1', 'evil.example:8090'],
  [
    'a domain that resolves to an address of the network',
    '192.168.1.5',
    'evil.example:8090',
    'http://evil.example:8090',
  ],
  ['a domain that resolves to an address of the network, without an Origin', '192.168.1.5', 'evil.example:8090'],
  ['an address of the network, on this machine', '127.0.0.1', '192.168.1.5:8090'],
  ['a page with the Origin null', '127.0.0.1', '127.0.0.1:8090', 'null'],
])('%s cannot use the simulator', (_who, ...from) => {
  expect(findOtherSite(requestFrom(from), names)).toMatch(/simulator/)
})

const routes: [method: string, path: string][] = [
  ['GET', '/'],
  ['GET', '/handset/main.ts'],
  ['GET', '/status'],
  ['GET', '/readme'],
  ['GET', '/manual'],
  ['GET', '/nowhere'],
  ['GET', `/v25.0/${wabaId}/phone_numbers?access_token=${demoSecrets.accessToken}`],
  ['POST', `/v25.0/${numberId}/messages?access_token=${demoSecrets.accessToken}`],
  ['GET', '/control/tokens'],
  ['GET', '/control/events'],
  ['PUT', `/control/apps/${appId}/callback`],
  ['POST', `/control/phones/${phone}/say`],
]

test('every route rejects a page of another site and a domain that resolves to this machine', async () => {
  const { simulator, control } = await newWorld()
  const logged = control.log.list().length
  const call = (method: string, path: string, headers: Record<string, string>) =>
    new Promise<number | undefined>((resolve, reject) => {
      const sent = request(simulator.url + path, { method, headers }, (response) => {
        resolve(response.statusCode)
        response.destroy()
      })
      sent.on('error', reject).end()
    })
  for (const [method, path] of routes) {
    const where = `${method} ${path}`
    expect(await call(method, path, { origin: 'https://evil.example' }), where).toBe(403)
    expect(await call(method, path, { host: 'evil.example' }), where).toBe(403)
    if (method === 'GET') expect(await call(method, path, {}), where).toBe(path === '/nowhere' ? 400 : 200)
  }
  // Of the requests above, only the ones without a foreign Origin or Host reached the Graph API.
  expect(control.log.list().slice(logged)).toMatchObject([{ kind: 'call', method: 'GET', status: 200 }])
  expect(control.phones.messages(phone)).toEqual([])
})

test('a name given with publicUrl is accepted as Host', async () => {
  const port = await freePort()
  await newWorld({ port, publicUrl: 'http://simulator.lan:8090' })
  const status = await new Promise((resolve) =>
    get({ port, path: '/status', headers: { host: 'simulator.lan:8090' } }, (response) =>
      resolve(response.resume().statusCode),
    ),
  )
  expect(status).toBe(200)
})
