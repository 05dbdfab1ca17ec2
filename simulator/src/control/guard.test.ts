import type { FastifyRequest } from 'fastify'
import { expect, test } from 'vitest'
import { refuseOtherSites } from './guard.ts'

/** What a request shows of where it comes from: the address it came in on, the name it asked for, the page that asked. */
const came = ([localAddress, host, origin]: string[]) =>
  ({ headers: { host, ...(origin === undefined ? {} : { origin }) }, socket: { localAddress } }) as FastifyRequest

test.each([
  ['a tool on this machine', '127.0.0.1', 'localhost:8090'],
  ['the handset', '127.0.0.1', '127.0.0.1:8090', 'http://127.0.0.1:8090'],
  ['a page of another server of this machine', '127.0.0.1', '127.0.0.1:8090', 'http://localhost:5173'],
  ['a tool on the network', '192.168.1.5', 'simulator.lan:8090'],
  ['the handset on the network', '192.168.1.5', '192.168.1.5:8090', 'http://192.168.1.5:8090'],
  ['the handset on the network, by IPv6', 'fd00::5', '[fd00::5]:8090', 'http://[fd00::5]:8090'],
])('%s may', (_who, ...request) => {
  expect(() => refuseOtherSites(came(request))).not.toThrow()
})

test.each([
  ['another site', '127.0.0.1', '127.0.0.1:8090', 'https://evil.example'],
  ['another site, on the network', '192.168.1.5', '192.168.1.5:8090', 'https://evil.example'],
  ['another machine of the network', '192.168.1.5', '192.168.1.5:8090', 'http://192.168.1.6:8090'],
  ['another port of that machine', '192.168.1.5', '192.168.1.5:8090', 'http://192.168.1.5:80'],
  ['a name that was pointed here', '127.0.0.1', 'evil.example:8090', 'http://evil.example:8090'],
  ['a name that was pointed here, without its Origin', '127.0.0.1', 'evil.example:8090'],
  ['a name that was pointed at the network', '192.168.1.5', 'evil.example:8090', 'http://evil.example:8090'],
  ['a page without an address', '127.0.0.1', '127.0.0.1:8090', 'null'],
])('%s may not', (_who, ...request) => {
  expect(() => refuseOtherSites(came(request))).toThrow(/control API/)
})
