import { type GraceHours, graceHours } from '@parley/contract/console/keys'
import { rateLimitRange } from '@parley/contract/key'
import { scopes } from '@parley/contract/scopes'
import { rulesOf as auditedRulesOf } from '@parley/server/domain/keys/key-input'
import {
  changeKey,
  createKey,
  getKey,
  type Key,
  listKeys,
  revokeKey,
  warningsOf,
} from '@parley/server/domain/keys/keys'
import { replacementsOf, rotateKey, rotationEntry } from '@parley/server/domain/keys/rotate'
import { changesOf } from '@parley/server/lib/changes'
import { change } from '../audit.ts'
import { type Call, type Command, UsageError } from '../command.ts'
import { formatTime } from '../format.ts'
import { readList, readTime } from '../read-options.ts'
import { styled } from '../style.ts'
import { jsonList, table } from '../table.ts'
import { readWorkspace, readWorkspaceFilter, workspaceFilter, workspaceOption } from '../workspace-option.ts'

/** As in the console: the system that uses the key has a day to change over. */
const defaultGraceHours: GraceHours = 24

export const commands: readonly Command[] = [
  {
    name: 'key create',
    details: 'The key is shown only once.',
    options: {
      workspace: workspaceOption('Workspace the key belongs to'),
      name: { value: 'NAME', required: true, help: 'Name of the key, such as the system that uses it' },
      scope: { value: 'SCOPE', required: true, repeated: true, help: `Scope to grant: ${scopes.join(', ')}` },
      'expires-at': { value: 'TIME', help: 'When the key expires, such as 2027-01-31T00:00:00Z (default: never)' },
      ip: { value: 'CIDR', repeated: true, help: 'Allowed IP address or range (default: any address)' },
      rate: {
        value: 'N',
        help: `Requests per minute, ${rateLimitRange.minimum} to ${rateLimitRange.maximum} (default: ${rateLimitRange.default})`,
      },
    },
    examples: [
      'key create --workspace ID --name "Shop" --scope messages:send',
      'key create --workspace ID --name "Shop" --scope messages:send,messages:read --ip 203.0.113.0/24 --rate 60',
    ],
    async run(call) {
      const { clock, option } = call
      const input = {
        ...rulesOf(call),
        workspaceId: (await readWorkspace(call)).id,
        name: option('name') ?? '',
        scopes: readList(call, 'scope'),
        createdBy: 'operator',
      }
      const { key, secret } = await change(call, async (tx, audit) => {
        const created = await createKey(tx, clock, input)
        await audit({ action: 'key.create', ...targetOf(created.key), after: auditedRulesOf(created.key) })
        return created
      })
      const warnings = warningsOf(key)
      return {
        lines: [
          `Created API key ${key.name} (${key.id}).`,
          '',
          'API key (shown only once):',
          '',
          `  ${secret}`,
          ...warningLines(warnings),
        ],
        json: { ...toJson(key), warnings, secret },
      }
    },
  },
  {
    name: 'key change',
    details: 'Options that are not given stay as they are. Takes effect on the next request.',
    args: ['ID'],
    idOf: 'key',
    options: {
      name: { value: 'NAME', help: 'New name' },
      scope: { value: 'SCOPE', repeated: true, help: 'Scopes of the key; replaces the current ones' },
      'expires-at': {
        value: 'TIME',
        help: 'When the key expires, such as 2027-01-31T00:00:00Z. An expired key cannot be renewed',
      },
      ip: {
        value: 'CIDR',
        repeated: true,
        help: 'Allowed IP addresses or ranges; replaces the current ones. "any" allows every address',
      },
      rate: { value: 'N', help: `Requests per minute, ${rateLimitRange.minimum} to ${rateLimitRange.maximum}` },
    },
    examples: ['key change ID --rate 60', 'key change ID --ip any'],
    async run(call) {
      const { clock, option, args } = call
      const name = option('name')
      const scopes = readList(call, 'scope')
      const input = { ...rulesOf(call), ...(name && { name }), ...(scopes.length > 0 && { scopes }) }
      const { key } = await change(call, async (tx, audit) => {
        const changed = await changeKey(tx, clock, args[0] ?? '', input)
        await audit({
          action: 'key.change',
          ...targetOf(changed.key),
          ...changesOf(auditedRulesOf(changed.before), auditedRulesOf(changed.key)),
        })
        return changed
      })
      const warnings = warningsOf(key)
      return {
        lines: [`Updated API key ${key.name} (${key.id}).`, ...warningLines(warnings)],
        json: { ...toJson(key), warnings },
      }
    },
  },
  {
    name: 'key list',
    options: { workspace: workspaceFilter },
    examples: ['key list --workspace "Acme"'],
    async run(call) {
      const { db, clock } = call
      const keys = await listKeys(await db(), (await readWorkspaceFilter(call))?.id)
      const replacements = replacementsOf(keys)
      const rows = keys.map((key) => [
        key.id,
        key.name,
        key.hint,
        stateOf(key, clock.now(), replacements.has(key.id)),
        `${key.rateLimitPerMin}/min`,
        key.lastUsedAt ? formatTime(key.lastUsedAt) : 'never',
        key.scopes.join(' '),
      ])
      const empty = 'No API keys yet. Create one with: ./parley key create --workspace ID --name NAME --scope SCOPE'
      const lines = table(['ID', 'NAME', 'KEY', 'STATE', 'RATE LIMIT', 'LAST USED', 'SCOPES'], rows, empty)
      const json = keys.map((key) => ({ ...toJson(key), replaced_by: replacements.get(key.id)?.id ?? null }))
      return { lines, json: jsonList(json) }
    },
  },
  {
    name: 'key rotate',
    details:
      'The new key has the settings of the old one and reads the same messages. It is shown only once. The old key keeps working for the grace period.',
    args: ['ID'],
    idOf: 'key',
    options: {
      'grace-hours': {
        value: graceHours.join('|'),
        help: `How long the old key keeps working; 0 revokes it now (default: ${defaultGraceHours})`,
      },
    },
    examples: ['key rotate ID', 'key rotate ID --grace-hours 0'],
    async run(call) {
      const {
        clock,
        option,
        args: [id = ''],
      } = call
      const hours = readGraceHours(option('grace-hours'))
      const { key, secret, old } = await change(call, async (tx, audit) => {
        const { workspaceId } = await getKey(tx, id)
        const rotated = await rotateKey(tx, clock, { workspaceId, id, graceHours: hours, createdBy: 'operator' })
        await audit({ ...rotationEntry(rotated), workspaceId })
        return rotated
      })
      const ends = old.revokedAt ?? old.expiresAt
      const warnings = warningsOf(key)
      return {
        lines: [
          `Created API key ${key.name} (${key.id}) in place of ${old.id}.`,
          old.revokedAt ? 'The old key is revoked.' : `The old key works until ${ends ? formatTime(ends) : ''}.`,
          '',
          'API key (shown only once):',
          '',
          `  ${secret}`,
          ...warningLines(warnings),
        ],
        json: { ...toJson(key), old_key_id: old.id, old_key_ends_at: ends?.toISOString() ?? null, warnings, secret },
      }
    },
  },
  {
    name: 'key revoke',
    details: 'It stops working immediately and cannot be restored.',
    args: ['ID'],
    idOf: 'key',
    examples: ['key revoke ID'],
    async run(call) {
      const key = await change(call, async (tx, audit) => {
        const revoked = await revokeKey(tx, call.clock, call.args[0] ?? '')
        await audit({ action: 'key.revoke', ...targetOf(revoked) })
        return revoked
      })
      return { lines: [`Revoked API key ${key.name} (${key.id}).`], json: toJson(key) }
    },
  },
]

function readGraceHours(text: string | undefined): GraceHours {
  if (text === undefined) return defaultGraceHours
  const hours = graceHours.find((each) => String(each) === text)
  if (hours === undefined) throw new UsageError(`Invalid --grace-hours "${text}". Use one of ${graceHours.join(', ')}.`)
  return hours
}

const targetOf = ({ id, name, workspaceId }: Key) => ({ target: id, targetName: name, workspaceId })

/** The options that `key create` and `key change` share, as far as they are given. */
function rulesOf(call: Call) {
  const { option } = call
  const expiry = option('expires-at')
  const rate = option('rate')
  const ranges = readList(call, 'ip')
  return {
    ...(ranges.length > 0 && { allowedRanges: ranges.filter((range) => range !== 'any') }),
    ...(expiry !== undefined && { expiresAt: readTime('expires-at', expiry) }),
    ...(rate !== undefined && { rateLimitPerMin: Number(rate) }),
  }
}

const warningLines = (warnings: readonly string[]): string[] =>
  warnings.length === 0 ? [] : ['', ...warnings.map((warning) => styled('yellow', warning))]

function stateOf({ revokedAt, expiresAt }: Key, now: Date, isReplaced: boolean): string {
  if (revokedAt) return 'revoked'
  if (!expiresAt) return 'active'
  if (expiresAt <= now) return 'expired'
  return isReplaced ? `rotated, works until ${formatTime(expiresAt)}` : 'active'
}

const toJson = (key: Key) => ({
  id: key.id,
  account_id: key.workspaceId,
  name: key.name,
  hint: key.hint,
  scopes: key.scopes,
  rate_limit_per_min: key.rateLimitPerMin,
  ip_allow_list: key.allowedRanges,
  expires_at: key.expiresAt?.toISOString() ?? null,
  revoked_at: key.revokedAt?.toISOString() ?? null,
  created_at: key.createdAt.toISOString(),
  last_used_at: key.lastUsedAt?.toISOString() ?? null,
  last_used_ip: key.lastUsedAddress,
})
