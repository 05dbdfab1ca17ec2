import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { withPrefix } from '../../lib/ids.ts'
import { open, type SecretKeys } from '../../lib/seal.ts'
import { failingConnections } from '../connections/connections.ts'
import { type WaitingNumber, waitingNumbers } from '../connections/parked.ts'
import { accessTokenContext, appSecretContext, verifyTokenContext } from '../connections/seal-contexts.ts'
import { balancesSince } from '../credits/credits.ts'
import { webhookSecretContext } from '../deliveries/engine/targets.ts'
import { listKeys, warningsOf } from '../keys/keys.ts'
import { totpContext } from '../people/two-factor.ts'
import { activeCounts, failingSenders } from '../senders/senders.ts'
import { listWorkspaces } from '../workspaces/workspaces.ts'
import { count, type Finding, ok, problem, warning } from './finding.ts'
import { sealedSecrets } from './health.sql.ts'

const places = {
  app: [appSecretContext, verifyTokenContext],
  connection: [accessTokenContext],
  endpoint: [webhookSecretContext],
  person: [totpContext],
} as const

export async function checkSecrets(db: Db, keys: SecretKeys): Promise<Finding> {
  const all = await sealedSecrets(db)
  const shut = all.filter(({ kind, id, sealed }) =>
    sealed.some((each, index) => !opens(keys, each, places[kind][index]?.(id) ?? '')),
  )
  if (shut.length === 0) return ok('secrets', `PARLEY_SECRET_KEYS opens all ${all.length} that are kept.`)
  const counts = (['app', 'connection', 'endpoint', 'person'] as const)
    .map((kind) => ({ kind, shut: shut.filter((each) => each.kind === kind).length }))
    .filter((each) => each.shut > 0)
    .map((each) => `${each.shut} of ${count(all.filter(({ kind }) => kind === each.kind).length, each.kind)}`)
  const wanted = new Set(shut.flatMap(({ sealed }) => sealed.map((each) => each.slice(0, each.indexOf(':')))))
  return problem('secrets', `PARLEY_SECRET_KEYS does not open the secrets of ${counts.join(', ')}.`, {
    details: shut.map(({ kind, id }) => `${kind} ${kind === 'endpoint' ? withPrefix('whk', id) : id}`),
    means: `They were sealed with ${[...wanted].map((id) => `"${id}"`).join(', ')}. Deliveries and messages that need them wait, nothing is dropped; people sign in with a backup code.`,
    advice:
      'Put the old key back beside the new one ("new:…,old:…"). If it is lost: "webhook rotate", "app change" and "connection change" give each a new secret, and "user reset --second-factor" lets a person set up a new app.',
  })
}

function opens(keys: SecretKeys, sealed: string, place: string): boolean {
  try {
    open(keys, sealed, place)
    return true
  } catch {
    return false
  }
}

export async function checkSync(db: Db): Promise<Finding> {
  const failing = (await failingConnections(db, null)).filter(({ sync_error }) => sync_error !== null)
  if (failing.length === 0) return ok('synchronising', 'The last one of every account succeeded.')
  return warning('synchronising', `${count(failing.length, 'account')} could not be synchronised.`, {
    details: failing.map(
      ({ id, waba_id, sync_error, sync_failures, synced_at }) =>
        `${id} (account ${waba_id}): ${sync_error} ${count(sync_failures, 'failure')}, last success ${synced_at?.toISOString() ?? 'never'}`,
    ),
    means: 'Senders and templates are shown as they were then.',
    advice: 'It is tried again by itself; "npx parley connection sync ID" does it now and says what is wrong.',
  })
}

/** A sync at once finds an added number within seconds; what waits for longer needs a person. */
const parkedForMs = 60_000

export async function checkParked(db: Db, clock: Clock): Promise<Finding> {
  const numbers = await waitingNumbers(db)
  const updates = numbers.reduce((sum, number) => sum + number.updates, 0)
  const says = `${count(updates, 'update')} parked for ${count(numbers.length, 'phone number')} not synced yet`
  const oldest = numbers[0]?.since.getTime() ?? Number.POSITIVE_INFINITY
  if (updates === 0) return ok('parked updates', 'None.')
  if (clock.now().getTime() - oldest < parkedForMs) return ok('parked updates', `${says}.`)
  return warning('parked updates', `${says}.`, {
    details: numbers.map(parkedLine),
    means:
      'Messages and statuses arrived for these numbers, but no sync has found the numbers yet. Their events are published as soon as one does; updates older than the retention are deleted.',
    advice:
      'If the sync fails, fix its cause (see "synchronising"). If it succeeds, check in Meta’s WhatsApp Manager that the account has the number. Then run: npx parley connection sync ID',
  })
}

function parkedLine({ phoneNumberId, wabaId, workspaceId, connectionId, ...rest }: WaitingNumber): string {
  const { updates, since, syncError, syncedAt } = rest
  const where = `${phoneNumberId} (account ${wabaId}, workspace ${workspaceId}, connection ${connectionId})`
  const cause = syncError
    ? `the sync fails: ${syncError}`
    : `the account did not list the number at ${syncedAt?.toISOString() ?? 'any sync so far'}`
  return `${where}: ${count(updates, 'update')} since ${since.toISOString()}; ${cause}`
}

export async function checkSenders(db: Db): Promise<Finding> {
  const troubled = await failingSenders(db, null)
  const all = (await activeCounts(db, null)).reduce((sum, workspace) => sum + workspace.count, 0)
  if (all === 0) return ok('senders', 'There is none yet.')
  if (troubled.length === 0) return ok('senders', `All ${all} are connected and well rated.`)
  return warning('senders', `${troubled.length} of ${all} not connected, or rated red.`, {
    details: troubled.map(
      ({ id, phone_number, status, quality_rating }) =>
        `${withPrefix('snd', id)} ${phone_number}: ${status}, quality ${quality_rating}`,
    ),
    means: 'The network refuses or throttles what such a number sends.',
    advice: 'See to the number in Meta’s WhatsApp Manager.',
  })
}

const dayMs = 86_400_000

export async function checkBalances(db: Db, clock: Clock): Promise<Finding> {
  const balances = new Map(
    (await balancesSince(db, new Date(clock.now().getTime() - dayMs))).map((row) => [row.workspaceId, row]),
  )
  const low = (await listWorkspaces(db)).flatMap(({ id, name, suspended }) => {
    const row = balances.get(id)
    return row && !suspended && (row.balance === 0 || row.balance < row.spent) ? [{ ...row, id, name }] : []
  })
  if (low.length === 0) return ok('credits', 'No workspace is about to run out.')
  return warning('credits', `${count(low.length, 'workspace')} with less than a day’s credits.`, {
    details: low.map(({ id, name, balance, spent }) => `${id} ${name}: ${balance} left, ${spent} spent in 24 hours`),
    means: 'Without credits a message is refused with insufficient_credits.',
    advice: 'npx parley workspace credit ID AMOUNT --note T',
  })
}

export async function checkKeys(db: Db, clock: Clock): Promise<Finding> {
  const now = clock.now()
  const active = (await listKeys(db)).filter(
    ({ revokedAt, expiresAt }) => !revokedAt && (!expiresAt || expiresAt > now),
  )
  const open = active.flatMap((key) => warningsOf(key).map((words) => `${key.id} ${key.name}: ${words}`))
  const free = active.filter(({ allowedRanges }) => allowedRanges.length === 0).length
  const says = `${count(active.length, 'active key')}, ${free} of them without a list of addresses`
  if (open.length === 0) return ok('keys', `${says}.`)
  return warning('keys', `${says}; ${count(open.length, 'list')} with every address there is.`, {
    details: open,
    means: 'Such a list looks like a limit and is none.',
    advice: 'npx parley key change ID --ip CIDR, with the addresses that are really meant.',
  })
}
