import { budgetRange } from '@parley/contract/key'
import { scopes } from '@parley/contract/scopes'
import { createKey, type Key, listKeys, revokeKey } from '@parley/server/domain/keys/keys'
import { requireWorkspace } from '@parley/server/domain/workspaces/workspaces'
import { type Command, Misuse } from '../command.ts'
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
        help: `requests a minute, ${budgetRange.minimum} to ${budgetRange.maximum} (default ${budgetRange.default})`,
      },
    },
    async run({ db, clock, option, options }) {
      const expiry = option('expires-at')
      const rate = option('rate')
      const { key, secret } = await createKey(await db(), clock, {
        workspaceId: option('workspace') ?? '',
        name: option('name') ?? '',
        scopes: options('scope').flatMap((each) => each.split(',')),
        allowedRanges: options('ip').flatMap((each) => each.split(',')),
        expiresAt: expiry === undefined ? null : readTime('expires-at', expiry),
        budget: rate === undefined ? undefined : Number(rate),
        createdBy: 'operator',
      })
      return {
        lines: [`Key ${key.id} made. Its secret is shown this once:`, '', `  ${secret}`],
        json: { ...toJson(key), secret },
      }
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

function readTime(name: string, text: string): Date {
  const time = new Date(text)
  if (Number.isNaN(time.getTime()))
    throw new Misuse(`--${name} is "${text}", but it takes a time such as 2027-01-31T00:00:00Z.`)
  return time
}

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
