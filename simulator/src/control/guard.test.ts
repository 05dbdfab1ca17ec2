import type { FastifyRequest } from 'fastify'
import { expect, test } from 'vitest'
import { refuseOtherSites } from './guard.ts'

/** A request with the local address of its connection, its Host header and its Origin header. */
const requestFrom = ([localAddress, host, origin]: string[]) =>
  ({ headers: { host, ...(origin === undefined ? {} : { origin }) }, socket: { localAddress } }) as FastifyRequest

test.each([
  ['a tool on this machine', '127.0.0.1', 'localhost:8090'],
  ['the handset', '127.0.0.1', '127.0.0.1:8090', 'http://127.0.0.1:8090'],
  ['a page of another server on this machine', '127.0.0.1', '127.0.0.1:8090', 'http://localhost:5173'],
  ['a tool on the network', '192.168.1.5', 'simulator.lan:8090'],
  ['the handset on the network', '192.168.1.5', '192.168.1.5:8090', 'http://192.168.1.5:8090'],
  ['the handset on the network, by IPv6', 'fd00::5', '[fd00::5]:8090', 'http://[fd00::5]:8090'],
])('%s can use the control API', (_who, ...request) => {
  expect(() => refuseOtherSites(requestFrom(request))).not.toThrow()
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
  ['a page with the Origin null', '127.0.0.1', '127.0.0.1:8090', 'null'],
])('%s cannot use the control API', (_who, ...request) => {
  expect(() => refuseOtherSites(requestFrom(request))).toThrow(/control API/)
})
