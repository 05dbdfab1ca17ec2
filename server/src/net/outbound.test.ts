import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { loopback } from '../../testing/deliveries.ts'
import { type Receiver, startReceiver } from '../../testing/receiver.ts'
import { tempFolder } from '../../testing/temp-folder.ts'
import { LookupError } from './lookup-error.ts'
import { newOutbound, type OutboundOptions } from './outbound.ts'
import { type TargetRules, targetProblem } from './target-guard.ts'

let receiver: Receiver
beforeAll(async () => {
  receiver = await startReceiver()
})
afterAll(() => receiver.close())

const strict: TargetRules = { allowHttp: true, allowRanges: [] }

async function post(url: string, options: Partial<OutboundOptions> = {}) {
  const outbound = newOutbound({ ...strict, ca: null, deadlineMs: 30_000, ...options })
  try {
    return await outbound.post(new URL(url), ['content-type', 'application/json'], Buffer.from('{}'))
  } finally {
    await outbound.close()
  }
}

/** Addresses of this machine, or of machines that are not reachable from the Internet. */
const blockedHosts = [
  '127.0.0.1',
  '127.1',
  '0x7f000001',
  '2130706433',
  '0177.0.0.1',
  '①②⑦.0.0.1',
  '0.0.0.0',
  '10.1.2.3',
  '172.16.0.1',
  '192.168.1.1',
  '100.64.0.1',
  '169.254.169.254',
  '192.0.2.1',
  '198.18.0.1',
  '224.0.0.1',
  '255.255.255.255',
  '[::]',
  '[::1]',
  '[::ffff:7f00:1]',
  '[::ffff:127.0.0.1]',
  '[::10.0.0.1]',
  '[::127.0.0.1]',
  '[64:ff9b::a00:1]',
  '[64:ff9b:1::1]',
  '[2002:7f00:1::]',
  '[2001::1]',
  '[fe80::1]',
  '[fec0::1]',
  '[fc00::1]',
  '[fd00:ec2::254]',
  '[ff02::1]',
  '[2001:db8::1]',
  '[100::1]',
  'localhost',
  'localhost.',
]

test.each(blockedHosts)(
  '%s is blocked when it is saved and when it is posted to, without a connection',
  async (host) => {
    const url = `http://${host}:${receiver.port}/`
    const before = receiver.connections()
    expect(await post(url)).toMatchObject({ fault: 'blocked', status: null, address: null })
    expect(await targetProblem(strict, new URL(url))).toMatch(/cannot be sent to this address/)
    expect(receiver.connections()).toBe(before)
  },
)

test('a host name with one private address is blocked, whatever the others are', async () => {
  const resolve = async () => [
    { address: '93.184.216.34', family: 4 },
    { address: '127.0.0.1', family: 4 },
  ]
  const url = `http://receiver.example:${receiver.port}/`
  const before = receiver.connections()
  expect(await post(url, { resolve })).toMatchObject({ fault: 'blocked', address: null })
  expect(receiver.connections()).toBe(before)
})

test('a host name that resolves to a private address after it was saved is blocked (DNS rebinding)', async () => {
  let lookups = 0
  const resolve = async () => [{ address: lookups++ === 0 ? '93.184.216.34' : '127.0.0.1', family: 4 }]
  const url = `http://rebinding.example:${receiver.port}/`
  const before = receiver.connections()
  expect(await targetProblem({ ...strict, resolve }, new URL(url))).toBeUndefined()
  expect(await post(url, { resolve })).toMatchObject({ fault: 'blocked', address: null })
  expect([lookups, receiver.connections()]).toEqual([2, before])
})

test('it connects to the address that was checked, and sends the host name in the request', async () => {
  const resolve = async () => [{ address: '127.0.0.1', family: 4 }]
  const url = `http://receiver.example:${receiver.port}/a?b=c`
  expect(await post(url, { resolve, allowRanges: loopback })).toMatchObject({ status: 200, address: '127.0.0.1' })
  expect(receiver.received.at(-1)).toMatchObject({
    path: '/a?b=c',
    headers: { host: `receiver.example:${receiver.port}` },
  })
})

test('a redirect to a forbidden address is not followed', async () => {
  receiver.next((response) => response.writeHead(302, { location: `http://127.0.0.1:${receiver.port}/inside` }).end())
  const before = receiver.received.length
  expect(await post(receiver.url, { allowRanges: loopback })).toMatchObject({ status: 302, fault: 'http' })
  expect(receiver.received).toHaveLength(before + 1)
})

test.each([
  ['http://169.254.169.254/latest/meta-data', 'blocked'],
  ['http://[::ffff:10.0.0.1]/', 'blocked'],
  ['https://93.184.216.34/', 'http'],
  ['/elsewhere', 'http'],
  ['http://', 'http'],
])('a redirect to %s counts as %s', async (location, fault) => {
  receiver.next((response) => response.writeHead(307, { location }).end())
  expect(await post(receiver.url, { allowRanges: loopback })).toMatchObject({ status: 307, fault })
})

test('plain HTTP is blocked unless allowed, and a URL must not contain a user name or password', async () => {
  const local = { allowRanges: loopback }
  expect(await post(receiver.url, { ...local, allowHttp: false })).toMatchObject({ fault: 'blocked' })
  expect(await post(receiver.url, { ...local, allowHttp: 'loopback' })).toMatchObject({ status: 200 })
  const fault = (url: string, rules: Partial<TargetRules>) =>
    targetProblem({ ...strict, resolve: async () => [{ address: '93.184.216.34', family: 4 }], ...rules }, new URL(url))
  expect(await fault('http://example.com/', { allowHttp: false })).toMatch(/https/)
  expect(await fault('http://example.com/', { allowHttp: 'loopback' })).toMatch(/plain HTTP/)
  expect(await fault('ftp://example.com/', {})).toMatch(/https/)
  expect(await fault('https://user:pass@example.com/', {})).toMatch(/user name or password/)
  expect(await fault('https://example.com/', { allowHttp: false })).toBeUndefined()
})

test('a host name that does not resolve fails with "dns", and a slow lookup with "timeout"', async () => {
  const resolve = async () => {
    throw new LookupError('not_found')
  }
  expect(await post('http://nowhere.example/', { resolve })).toMatchObject({ fault: 'dns' })
  expect(await targetProblem({ ...strict, resolve }, new URL('https://nowhere.example/'))).toMatch(
    /cannot be resolved: the name was not found/,
  )
  const hanging = () => new Promise<never>(() => {})
  expect(await post('http://slow.example/', { resolve: hanging, deadlineMs: 50 })).toMatchObject({ fault: 'timeout' })
})

test('certificates are verified, and `ca` is trusted in addition to the system’s roots', async () => {
  const folder = tempFolder()
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const names = ['-subj', '/CN=receiver.example', '-addext', 'subjectAltName=DNS:receiver.example']
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-keyout',
      key,
      '-out',
      cert,
    ].concat(names),
    { stdio: 'ignore' },
  )
  const ca = readFileSync(cert, 'utf8')
  const server = createSecureServer({ key: readFileSync(key), cert: ca }, (_request, response) => response.end('ok'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const options = { allowRanges: loopback, resolve: async () => [{ address: '127.0.0.1', family: 4 }] }
  expect(await post(`https://receiver.example:${port}/`, options)).toMatchObject({ fault: 'tls', status: null })
  expect(await post(`https://receiver.example:${port}/`, { ...options, ca })).toMatchObject({
    fault: null,
    status: 200,
  })
  expect(await post(`https://other.example:${port}/`, { ...options, ca })).toMatchObject({ fault: 'tls' })
  server.closeAllConnections()
  server.close()
})
