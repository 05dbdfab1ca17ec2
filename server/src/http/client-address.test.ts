import { describe, expect, test } from 'vitest'
import { loggedRequest } from '../../testing/log.ts'
import { useTestServer } from '../../testing/test-server.ts'
import { newWorkspace } from '../../testing/workspace.ts'

describe('without a trusted proxy', () => {
  const server = useTestServer()

  test('X-Forwarded-For and similar headers do not bypass an IP allowlist', async () => {
    const workspace = await newWorkspace(server)
    const { secret: key } = await workspace.newKey({ allowedRanges: ['203.0.113.9'] })
    for (const name of ['x-forwarded-for', 'forwarded', 'x-real-ip', 'true-client-ip', 'cf-connecting-ip']) {
      const value = name === 'forwarded' ? 'for=203.0.113.9' : '203.0.113.9'
      const response = await server.call('/v1/me', { key, headers: { [name]: value } })
      expect([response.status, response.body], name).toMatchObject([
        403,
        { error: { code: 'ip_not_allowed', details: { ip: '127.0.0.1' } } },
      ])
    }
  })

  test('X-Forwarded-For changes neither the rate limit nor the logged address', async () => {
    const remaining = async (headers: Record<string, string>) => {
      const response = await server.call('/v1/me', { headers })
      expect((await loggedRequest(server, response)).address).toBe('127.0.0.1')
      return Number(response.headers.get('ratelimit-remaining'))
    }
    const first = await remaining({ 'x-forwarded-for': '198.51.100.1' })
    expect(await remaining({ 'x-forwarded-for': '198.51.100.2' })).toBe(first - 1)
  })
})

describe('behind trusted proxies', () => {
  const server = useTestServer({ trustProxy: ['127.0.0.1', '10.0.0.0/8', '2001:db8:ffff::/48'] })

  test.each<[forwarded: string, client: string]>([
    ['203.0.113.9', '203.0.113.9'],
    ['203.0.113.9, 10.1.2.3', '203.0.113.9'],
    ['1.2.3.4, 203.0.113.9', '203.0.113.9'],
    ['1.2.3.4, 203.0.113.9, 10.1.2.3, 2001:db8:ffff::1', '203.0.113.9'],
    ['10.9.9.9, 10.1.2.3', '10.9.9.9'],
    ['203.0.113.9:4711', '203.0.113.9'],
    ['[2001:db8::1]:4711', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['2001:DB8:0:0::0001', '2001:db8::1'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['::FFFF:cb00:7109', '203.0.113.9'],
    ['203.0.113.9, ::ffff:10.1.2.3', '203.0.113.9'],
    ['  203.0.113.9  ', '203.0.113.9'],
    ['203.0.113.9, unknown', '127.0.0.1'],
    ['203.0.113.9, _hidden, 10.1.2.3', '10.1.2.3'],
    ['203.0.113.9,', '127.0.0.1'],
    ['', '127.0.0.1'],
    ['0x7f.1', '127.0.0.1'],
    ['2130706433', '127.0.0.1'],
    ['010.8.8.8', '127.0.0.1'],
    ['203.0.113.256', '127.0.0.1'],
    ['fe80::1%eth0', '127.0.0.1'],
    ['203.0.113.9:99999:1', '127.0.0.1'],
    ["'; drop table request_log; --", '127.0.0.1'],
    ['\u00e4\u00f6', '127.0.0.1'],
    [`${'1.2.3.4, '.repeat(1500)}203.0.113.9`, '203.0.113.9'],
    ['10.0.0.1, '.repeat(1400).slice(0, -2), '10.0.0.1'],
  ])('the right-most address that is not a trusted proxy is the client: %j', async (forwarded, client) => {
    const workspace = await newWorkspace(server)
    const { secret: key } = await workspace.newKey({ allowedRanges: ['192.0.2.1'] })
    const { body } = await server.call('/v1/me', { key, headers: { 'x-forwarded-for': forwarded } })
    expect(body).toMatchObject({ error: { code: 'ip_not_allowed', details: { ip: client } } })
  })

  test('each client behind the proxy has its own rate limit', async () => {
    const remaining = async (address: string) =>
      (await server.call('/v1/me', { headers: { 'x-forwarded-for': address } })).headers.get('ratelimit-remaining')
    expect([await remaining('198.51.100.1'), await remaining('198.51.100.1'), await remaining('198.51.100.2')]).toEqual(
      ['599', '598', '599'],
    )
  })

  test.each<[range: string, address: string, allowed: boolean]>([
    ['203.0.113.0/24', '::ffff:203.0.113.9', true],
    ['203.0.113.0/24', '::FFFF:cb00:7109', true],
    ['203.0.113.0/24', '203.0.114.0', false],
    ['::ffff:203.0.113.0/120', '203.0.113.9', true],
    ['2001:db8::/32', '2001:db8:0:0:0:0:0:1', true],
    ['2001:db8::/32', '2001:DB8::', true],
    ['2001:db8::/32', '2001:db9::', false],
    ['0.0.0.0/0', '2001:db8::1', false],
    ['::/0', '203.0.113.9', false],
    ['::/0', '2001:db8::1', true],
  ])('a key that allows %s is allowed from %s: %s', async (range, address, allowed) => {
    const workspace = await newWorkspace(server)
    const { secret: key } = await workspace.newKey({ allowedRanges: [range] })
    const { status } = await server.call('/v1/me', { key, headers: { 'x-forwarded-for': address } })
    expect(status).toBe(allowed ? 200 : 403)
  })
})
