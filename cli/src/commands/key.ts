import { rateLimitRange } from '@parley/contract/key'
import { scopes } from '@parley/contract/scopes'
import { changeKey, createKey, type Key, listKeys, revokeKey, warningsOf } from '@parley/server/domain/keys/keys'
import { requireWorkspace } from '@parley/server/domain/workspaces/workspaces'
import type { Call, Command } from '../command.ts'
import { readList, readTime } from '../read.ts'
import { styled } from '../style.ts'
import { jsonList, table } from '../table.ts'

export const keyCommands: readonly Command[] = [
  {
    name: 'key create',
    summary: 'Make an API key; its secret is shown once',
    options: {
      workspace: { value: 'ID', required: true, help: 'whose key it is' },
      name: { value: 'N', required: true, help: 'for which system it is' },
      scope: { value: 'S', required: true, repeated: true, help: `one of ${scopes.join(', ')}` },
      'expires-at': { value: 'T', help: 'when it stops working, such as 2027-01-31T00:00:00Z (default never)' },
      ip: { value: 'CIDR', repeated: true, help: 'an address it may be used from (default any)' },
      rate: {
        value: 'N',
        help: `requests a minute, ${rateLimitRange.minimum} to ${rateLimitRange.maximum} (default ${rateLimitRange.default})`,
      },
    },
    async run(call) {
      const { db, clock, option } = call
      const { key, secret } = await createKey(await db(), clock, {
        ...rulesOf(call),
        workspaceId: option('workspace') ?? '',
        name: option('name') ?? '',
        scopes: readList(call.options('scope')),
        createdBy: 'operator',
      })
      const warnings = warningsOf(key)
      return {
        lines: [`Key ${key.id} made. Its secret is shown this once:`, '', `  ${secret}`, ...noteworthy(warnings)],
        json: { ...toJson(key), warnings, secret },
      }
    },
  },
  {
    name: 'key change',
    summary: 'Change what a key may do, from its next request on; what is not named stays',
    args: ['ID'],
    options: {
      name: { value: 'N', help: 'for which system it is' },
      scope: { value: 'S', repeated: true, help: 'all the scopes it is to have' },
      'expires-at': { value: 'T', help: 'when it stops working' },
      ip: {
        value: 'CIDR',
        repeated: true,
        help: 'all the addresses it may be used from; any lets it be used from anywhere',
      },
      rate: { value: 'N', help: 'requests a minute' },
    },
    async run(call) {
      const { db, clock, option, args } = call
      const name = option('name')
      const scopes = readList(call.options('scope'))
      const input = { ...rulesOf(call), ...(name && { name }), ...(scopes.length > 0 && { scopes }) }
      const key = await changeKey(await db(), clock, args[0] ?? '', input)
      const warnings = warningsOf(key)
      return { lines: [`Key ${key.id} is changed.`, ...noteworthy(warnings)], json: { ...toJson(key), warnings } }
    },
  },
  {
    name: 'key list',
    summary: 'Show the keys, the newest first',
    options: { workspace: { value: 'ID', help: 'only this workspace’s' } },
    async run({ db, option, clock }) {
      const workspaceId = option('workspace')
      if (workspaceId) await requireWorkspace(await db(), workspaceId)
      const keys = await listKeys(await db(), workspaceId)
      const rows = keys.map((key) => [
        key.id,
        key.name,
        key.hint,
        stateOf(key, clock.now()),
        String(key.budget),
        key.lastUsedAt?.toISOString() ?? 'never',
        key.scopes.join(' '),
      ])
      const lines = table(
        ['ID', 'NAME', 'HINT', 'STATE', 'A MINUTE', 'LAST USED', 'SCOPES'],
        rows,
        'There is no key yet.',
      )
      return { lines, json: jsonList(keys.map(toJson)) }
    },
  },
  {
    name: 'key revoke',
    summary: 'Stop a key for good, from the next request on',
    args: ['ID'],
    async run({ db, clock, args: [id = ''] }) {
      const key = await revokeKey(await db(), clock, id)
      return { lines: [`Key ${key.id} is revoked.`], json: toJson(key) }
    },
  },
]

/** What is given of the rules that a key may be made and changed with. */
function rulesOf({ option, options }: Call) {
  const expiry = option('expires-at')
  const rate = option('rate')
  const ranges = readList(options('ip'))
  return {
    ...(ranges.length > 0 && { allowedRanges: ranges.filter((range) => range !== 'any') }),
    ...(expiry !== undefined && { expiresAt: readTime('expires-at', expiry) }),
    ...(rate !== undefined && { budget: Number(rate) }),
  }
}

const noteworthy = (warnings: readonly string[]): string[] =>
  warnings.length === 0 ? [] : ['', ...warnings.map((warning) => styled('yellow', warning))]

function stateOf({ revokedAt, expiresAt }: Key, now: Date): string {
  if (revokedAt) return 'revoked'
  return expiresAt && expiresAt <= now ? 'expired' : 'active'
}

const toJson = (key: Key) => ({
  id: key.id,
  account_id: key.workspaceId,
  name: key.name,
  hint: key.hint,
  scopes: key.scopes,
  rate_limit_per_min: key.budget,
  ip_allow_list: key.allowedRanges,
  expires_at: key.expiresAt?.toISOString() ?? null,
  revoked_at: key.revokedAt?.toISOString() ?? null,
  created_at: key.createdAt.toISOString(),
  last_used_at: key.lastUsedAt?.toISOString() ?? null,
  last_used_ip: key.lastUsedAddress,
})
