import { expect, test } from 'vitest'
import { useTestServer } from '../../../testing/test-server.ts'
import { newWorkspace } from '../../../testing/workspace.ts'
import { Refusal } from '../../lib/refuse.ts'
import { changeKey, createKey, type KeyInput, listKeys, revokeKey, warningsOf } from './keys.ts'

const server = useTestServer()

const errorOf = async (result: Promise<unknown>) => {
  const error = await result.catch((each: unknown) => each)
  expect(error).toBeInstanceOf(Refusal)
  const { code, parts } = error as Refusal
  return { code, params: parts.errors?.map(({ param }) => param) }
}

test.each<[input: Partial<KeyInput>, param: string]>([
  [{ name: '' }, 'name'],
  [{ name: '   ' }, 'name'],
  [{ name: 'x'.repeat(101) }, 'name'],
  [{ scopes: ['messages:everything'] }, 'scopes'],
  [{ scopes: ['__proto__'] }, 'scopes'],
  [{ rateLimitPerMin: 0 }, 'rate_limit_per_min'],
  [{ rateLimitPerMin: 101 }, 'rate_limit_per_min'],
  [{ rateLimitPerMin: 1.5 }, 'rate_limit_per_min'],
  [{ rateLimitPerMin: Number.NaN }, 'rate_limit_per_min'],
  [{ expiresAt: new Date('2026-11-15T09:00:00.000Z') }, 'expires_at'],
  [{ expiresAt: new Date(Number.NaN) }, 'expires_at'],
  [{ allowedRanges: ['203.0.113.9/24'] }, 'ip_allow_list'],
  [{ allowedRanges: ['2001:db8::1/32'] }, 'ip_allow_list'],
  [{ allowedRanges: ['fe80::1%eth0'] }, 'ip_allow_list'],
  [{ allowedRanges: ['example.com'] }, 'ip_allow_list'],
  [{ allowedRanges: ['010.0.0.1'] }, 'ip_allow_list'],
  [{ allowedRanges: Array.from({ length: 101 }, (_, index) => `10.0.0.${index}`) }, 'ip_allow_list'],
])('createKey rejects %j', async (input, param) => {
  const workspace = await newWorkspace(server)
  const created = createKey(server.db, server.clock, {
    workspaceId: workspace.id,
    name: 'k',
    scopes: [],
    createdBy: 'test',
    ...input,
  })
  expect(await errorOf(created)).toEqual({ code: 'validation_failed', params: [param] })
  expect(await listKeys(server.db, workspace.id)).toHaveLength(1)
})

test('IP addresses are stored in canonical form, without duplicates', async () => {
  const workspace = await newWorkspace(server)
  const { key } = await workspace.newKey({
    allowedRanges: [' 203.0.113.9 ', '::ffff:203.0.113.9', '2001:DB8:0::/32', '::FFFF:10.0.0.0/104', '2001:db8::/32'],
  })
  expect(key.allowedRanges).toEqual(['203.0.113.9/32', '2001:db8::/32', '10.0.0.0/8'])
})

test('an allowlist with every IPv4 or IPv6 address is accepted with a warning', async () => {
  const workspace = await newWorkspace(server)
  const warnings = async (...allowedRanges: string[]) => warningsOf((await workspace.newKey({ allowedRanges })).key)
  const everyIpv4 = 'The IP allowlist contains 0.0.0.0/0, which is every IPv4 address'
  const everyIpv6 = 'The IP allowlist contains ::/0, which is every IPv6 address'
  expect(await warnings('0.0.0.0/0')).toEqual([`${everyIpv4}, but no IPv6 address.`])
  expect(await warnings('0.0.0.0/0', '203.0.113.9')).toEqual([`${everyIpv4}, but no IPv6 address.`])
  expect(await warnings('::ffff:0:0/96')).toEqual([`${everyIpv4}, but no IPv6 address.`])
  expect(await warnings('::/0')).toEqual([`${everyIpv6}, but no IPv4 address.`])
  expect(await warnings('0.0.0.0/0', '2001:db8::/32')).toEqual([`${everyIpv4}.`])
  expect(await warnings('0.0.0.0/0', '::/0')).toEqual([`${everyIpv4}.`, `${everyIpv6}.`])
  expect(await warnings('10.0.0.0/8')).toEqual([])
  expect(await warnings()).toEqual([])
})

test('a change keeps the fields it does not contain, including the expiry', async () => {
  const workspace = await newWorkspace(server)
  const expiresAt = new Date(server.clock.now().getTime() + 60_000)
  const { key } = await workspace.newKey({ allowedRanges: ['10.0.0.0/8'], rateLimitPerMin: 7, expiresAt })
  const { key: renamed } = await changeKey(server.db, server.clock, key.id, { name: 'new' })
  expect(renamed).toEqual({ ...key, name: 'new' })
  const { key: open } = await changeKey(server.db, server.clock, key.id, { expiresAt: null, allowedRanges: [] })
  expect(open).toEqual({ ...key, name: 'new', expiresAt: null, allowedRanges: [] })
  expect((await listKeys(server.db, workspace.id)).find(({ id }) => id === key.id)).toEqual(open)
})

test('revoking twice keeps the first time, and an unknown key gets not_found', async () => {
  const workspace = await newWorkspace(server)
  const { revokedAt } = await revokeKey(server.db, server.clock, workspace.key.id)
  server.clock.forward({ seconds: 5 })
  expect((await revokeKey(server.db, server.clock, workspace.key.id)).revokedAt).toEqual(revokedAt)
  for (const id of ['', 'x', workspace.id, `${workspace.key.id}'`]) {
    expect((await errorOf(revokeKey(server.db, server.clock, id))).code).toBe('not_found')
  }
})
