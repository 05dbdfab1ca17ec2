import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { formatTime } from '../../lib/format.ts'
import { withPrefix } from '../../lib/ids.ts'
import type { SecretKeys } from '../../lib/seal.ts'
import { explainError } from '../../whatsapp/graph/explain-error.ts'
import { listApps } from '../connections/apps.ts'
import { failingConnections } from '../connections/connections.ts'
import { type WaitingNumber, waitingNumbers } from '../connections/parked.ts'
import { recentUnknownNumbers } from '../connections/unknown-numbers.ts'
import { balancesSince } from '../credits/credits.ts'
import { verifyLedger } from '../credits/verify-ledger.ts'
import { listKeys, warningsOf } from '../keys/keys.ts'
import { lastWebhookAt } from '../messages/reading/last-webhooks.ts'
import { countRejectedWebhooks } from '../requests/rejected-webhooks.ts'
import { countActiveSenders, failingSenders, sendersOfApp } from '../senders/senders.ts'
import { stoppedTemplates } from '../templates/templates.ts'
import { countUpdatesSince } from '../updates/updates.ts'
import { listWorkspaces } from '../workspaces/workspaces.ts'
import { count, type Finding, ok, problem, warning } from './finding.ts'
import { readOwners, secretsByKey } from './sealed.ts'

export async function checkSecrets(db: Db, keys: SecretKeys): Promise<Finding> {
  const all = await readOwners(db, keys)
  const unreadable = all.filter((each) => each.unreadable.length > 0)
  const byKey = await secretsByKey(db)
  if (unreadable.length === 0)
    return ok('secrets', `PARLEY_SECRET_KEYS decrypts all stored secrets.`, usesOf(byKey, keys))
  const counts = (['app', 'connection', 'webhook', 'user', 'email'] as const)
    .map((owner) => ({
      owner,
      total: all.filter((each) => each.owner === owner).length,
      unreadable: unreadable.filter((each) => each.owner === owner).length,
    }))
    .filter((each) => each.unreadable > 0)
    .map((each) => `${each.unreadable} of ${count(each.total, each.owner, plurals[each.owner])}`)
  const keyIds = new Set(unreadable.flatMap((each) => each.unreadable))
  return problem('secrets', `PARLEY_SECRET_KEYS cannot decrypt the secrets of ${counts.join(', ')}.`, {
    details: unreadable.map(({ owner, id }) => `${owner} ${owner === 'webhook' ? withPrefix('whk', id) : id}`),
    effect: `They were encrypted with the ${keyIds.size === 1 ? 'key' : 'keys'} ${[...keyIds].map((id) => `"${id}"`).join(', ')}. Messages and deliveries that need them wait; none are lost. Users whose authenticator app is affected can sign in with a backup code.`,
    remedy:
      'Add the old key to PARLEY_SECRET_KEYS again, after the new one: "new:…,old:…". If it is lost, set new secrets with "./parley webhook rotate", "./parley app change" and "./parley connection change". Run "./parley user reset --second-factor" for each affected person.',
  })
}

/** Which keys are in use, and what to do if some are not the first one. */
function usesOf(byKey: ReadonlyMap<string, number>, keys: SecretKeys): { details: string[]; remedy: string | null } {
  const [first = '', ...others] = keys.keys()
  const details = [first, ...others].map(
    (id) => `The key "${id}" encrypts ${count(byKey.get(id) ?? 0, 'secret', 'secrets')}.`,
  )
  if (others.some((id) => byKey.has(id)))
    return {
      details,
      remedy: `To stop using the old keys, run "./parley secrets reseal". It encrypts everything with "${first}".`,
    }
  const unused = others.map((id) => `"${id}"`).join(', ')
  return {
    details,
    remedy: others.length > 0 ? `Not needed any more: ${unused}. Remove it from PARLEY_SECRET_KEYS.` : null,
  }
}

const plurals = {
  app: 'apps',
  connection: 'connections',
  email: 'emails',
  user: 'users',
  webhook: 'webhooks',
} as const

/** Of one connection or of all. */
export async function checkSync(db: Db, connectionId?: string): Promise<Finding> {
  const failing = (await failingConnections(db, null)).filter(
    ({ id, sync_error }) => sync_error !== null && (connectionId === undefined || id === connectionId),
  )
  if (failing.length === 0) return ok('account sync', 'The last sync of every account succeeded.')
  return warning('account sync', `Sync fails for ${count(failing.length, 'account')}.`, {
    details: failing.map(
      ({ id, waba_id, sync_error, sync_failures, synced_at }) =>
        `${id} (account ${waba_id}): ${sync_error} ${count(sync_failures, 'failure')} in a row, last success: ${synced_at ? formatTime(synced_at) : 'never'}`,
    ),
    effect: 'Senders and templates are as of the last successful sync and may be out of date.',
    remedy: 'Parley retries automatically. To retry now and see the error, run: ./parley connection sync ID',
    consoleRemedy: 'Parley retries automatically. Sync now to see the error.',
    actions: failing.map(({ id, waba_id }) => ({ kind: 'sync_connection', id, waba_id })),
  })
}

/** Parking starts a sync, which finds a new number within seconds. After a minute, someone has to look at it. */
const parkedWarningMs = 60_000

/** Of all numbers, of a connection or of one number. */
export async function checkParked(
  db: Db,
  clock: Clock,
  of: { connectionId?: string; phoneNumberId?: string | undefined } = {},
): Promise<Finding> {
  const numbers = (await waitingNumbers(db)).filter(
    ({ connectionId, phoneNumberId }) =>
      (of.connectionId ?? connectionId) === connectionId && (of.phoneNumberId ?? phoneNumberId) === phoneNumberId,
  )
  const updates = numbers.reduce((sum, number) => sum + number.updates, 0)
  const message = `${count(updates, 'update')} parked for ${count(numbers.length, 'phone number')} not synced yet.`
  const oldest = numbers[0]?.since.getTime() ?? Number.POSITIVE_INFINITY
  if (updates === 0) return ok('parked updates', 'No updates are parked.')
  if (clock.now().getTime() - oldest < parkedWarningMs) return ok('parked updates', message)
  return warning('parked updates', message, {
    details: numbers.map(parkedLine),
    effect:
      'Messages and statuses arrived for these numbers, but no sync has found the numbers yet. Their events are published when a sync finds them. Updates older than PARLEY_RETENTION_DAYS are deleted.',
    remedy:
      'If the sync fails, fix its cause (see "account sync"). If it succeeds, check in Meta’s WhatsApp Manager that the number belongs to the account. Then run: ./parley connection sync ID',
    consoleRemedy:
      'Check in Meta’s WhatsApp Manager that the number belongs to the account. Then sync the account: if that fails, fix its cause.',
    actions: [...new Map(numbers.map((each) => [each.connectionId, each.wabaId]))].map(([id, waba_id]) => ({
      kind: 'sync_connection',
      id,
      waba_id,
    })),
  })
}

function parkedLine({ phoneNumberId, wabaId, workspaceId, connectionId, ...rest }: WaitingNumber): string {
  const { updates, since, syncError, syncedAt } = rest
  const where = `${phoneNumberId} (account ${wabaId}, workspace ${workspaceId}, connection ${connectionId})`
  const cause = syncError
    ? `the sync fails: ${syncError}`
    : `the account did not list the number at ${syncedAt ? `the last sync (${formatTime(syncedAt)})` : 'any sync so far'}`
  return `${where}: ${count(updates, 'update')} since ${formatTime(since)}; ${cause}`
}

export async function checkUnknownNumbers(db: Db, clock: Clock): Promise<Finding> {
  const numbers = await recentUnknownNumbers(db, clock.now())
  if (numbers.length === 0) return ok('unknown numbers', 'No messages arrive for numbers that no workspace has.')
  const what = numbers.length === 1 ? 'a number' : `${numbers.length} numbers`
  const accounts = new Map(
    numbers.map(({ appId, wabaId }) => [`${appId} ${wabaId}`, { app_id: appId, waba_id: wabaId }]),
  )
  return warning('unknown numbers', `Messages arrive for ${what} that no workspace has.`, {
    details: numbers.map(
      ({ phoneNumberId, wabaId, appId, appName, updates, lastSeenAt }) =>
        `${phoneNumberId} (account ${wabaId}, app ${appName} ${appId}): ${count(updates, 'update')}, last at ${formatTime(lastSeenAt)}`,
    ),
    effect:
      'Their accounts are subscribed to an app and not connected to a workspace. Their messages and statuses are stored as network updates, which no workspace sees.',
    remedy:
      'Connect the account: ./parley connection create --workspace ID --app ID --waba-id ID --access-token T. If it should not be connected, remove the app from the account in Meta’s Business settings.',
    consoleRemedy:
      'Connect the account. If it should not be connected, remove the app from the account in Meta’s Business settings.',
    actions: [...accounts.values()].map((account) => ({ kind: 'connect_account', ...account })),
  })
}

const dayMs = 86_400_000
const updatesShownDays = 7

/** A notice is understood: it only has no use here. */
export async function checkUpdates(db: Db, clock: Clock): Promise<Finding> {
  const since = new Date(clock.now().getTime() - updatesShownDays * dayMs)
  const counts = (await countUpdatesSince(db, {}, since)).filter(({ outcome }) => outcome !== 'notice')
  if (counts.length === 0)
    return ok('network updates', `Parley understood what WhatsApp sent in the last ${updatesShownDays} days.`)
  const fields = new Set(counts.map(({ field }) => field))
  return warning('network updates', `WhatsApp sends ${count(fields.size, 'field')} that Parley does not understand.`, {
    details: counts.map(
      ({ field, outcome, count: updates, lastReceivedAt }) =>
        `${field}: ${count(updates, 'update')} ${outcome}, last at ${formatTime(lastReceivedAt)}`,
    ),
    effect: 'They are stored as they arrived, and published as network.update to the webhooks that subscribe to it.',
    remedy:
      'See them with: ./parley update list --field FIELD. If you do not need a field, remove its subscription in the app at Meta. A later version of Parley may understand it, and then publishes what was missed.',
    consoleRemedy:
      'If you do not need a field, remove its subscription in the app at Meta. A later version of Parley may understand it, and then publishes what was missed.',
  })
}

/**
 * Webhooks with an invalid signature in the last day, unless a valid one came after them. Of one app or of all. Anyone can post
 * them, so they alone are no problem: that Meta rejects the app secret is checked at Meta. `db` must see all workspaces.
 */
export async function checkSignatures(
  db: Db,
  clock: Clock,
  only?: { appId: string; isSecretRight: boolean },
): Promise<Finding> {
  const affected: string[] = []
  for (const { id, name } of (await listApps(db)).filter((app) => only === undefined || app.id === only.appId)) {
    const valid = (await lastWebhookAt(db, await sendersOfApp(db, id)))?.getTime() ?? 0
    const since = new Date(Math.max(clock.now().getTime() - dayMs, valid))
    const { count: rejected, lastAt } = await countRejectedWebhooks(db, id, since)
    if (lastAt)
      affected.push(`app ${id} (${name}): ${count(rejected, 'webhook')} or more, last at ${formatTime(lastAt)}`)
  }
  if (affected.length === 0) return ok('signatures', 'No webhook of WhatsApp was rejected.')
  if (only?.isSecretRight) {
    return warning('signatures', 'Parley rejects webhooks that the app at Meta did not sign. Its secret is right.', {
      details: affected,
      remedy:
        'If you have just replaced the secret, nothing is to do: the next webhook ends this warning. Otherwise check that no other app at Meta has this callback URL, because someone else may post to it.',
      consoleRemedy: 'Ask the operator to check the callback URLs of the apps at Meta.',
    })
  }
  return warning('signatures', 'Parley rejects webhooks of WhatsApp: their signatures are invalid.', {
    details: affected,
    effect: 'The app secret here is not the one at Meta, or someone else posts to the callback URL.',
    remedy:
      'Copy the app secret from the app’s basic settings at Meta, then run: ./parley app change ID --app-secret -',
    consoleRemedy: 'Ask the operator to replace the app secret.',
  })
}

export async function checkTemplates(db: Db): Promise<Finding> {
  const stopped = await stoppedTemplates(db)
  if (stopped.length === 0) return ok('templates', 'No template is paused or disabled.')
  return warning('templates', `${count(stopped.length, 'template')} paused or disabled by WhatsApp.`, {
    details: stopped.map(
      ({ workspaceId, name, language, status }) => `${name} (${language}): ${status}, workspace ${workspaceId}`,
    ),
    effect: 'Messages with these templates fail or are refused.',
    remedy: explainError({ code: 132015 }).fix,
  })
}

export async function checkSenders(db: Db): Promise<Finding> {
  const failing = await failingSenders(db, null)
  const all = (await countActiveSenders(db, null)).reduce((sum, workspace) => sum + workspace.count, 0)
  if (all === 0) return ok('senders', 'No senders yet.')
  if (failing.length === 0) return ok('senders', `${count(all, 'sender')}: connected, no low quality ratings.`)
  return warning('senders', `${failing.length} of ${count(all, 'sender')} disconnected or with a low quality rating.`, {
    details: failing.map(
      ({ id, phone_number, status, quality_rating }) =>
        `${withPrefix('snd', id)} ${phone_number}: ${status}, quality ${quality_rating}`,
    ),
    effect: 'WhatsApp rejects or throttles messages from these numbers.',
    remedy: 'Check the numbers in Meta’s WhatsApp Manager.',
  })
}

export async function checkBalances(db: Db, clock: Clock): Promise<Finding> {
  const balances = new Map(
    (await balancesSince(db, new Date(clock.now().getTime() - dayMs))).map((row) => [row.workspaceId, row]),
  )
  const low = (await listWorkspaces(db))
    .filter(({ suspended }) => !suspended)
    .map((workspace) => ({ ...workspace, ...(balances.get(workspace.id) ?? { balance: 0, spent: 0 }) }))
    .filter(({ balance, spent, lowBalance }) => balance <= lowBalance || balance < spent)
    .sort((left, right) => left.balance - right.balance)
  if (low.length === 0) return ok('credits', 'No workspace is running out of credits.')
  return warning('credits', `${count(low.length, 'workspace')} out of credits or running low.`, {
    details: low.map(
      ({ id, name, balance, spent, lowBalance }) =>
        `${id} ${name}: ${balance} left (warning level ${lowBalance}), ${spent} spent in the last 24 hours`,
    ),
    effect: 'Without credits, requests that send messages fail with insufficient_credits.',
    remedy: 'Add credits: ./parley workspace credit ID AMOUNT --note T',
    consoleRemedy: 'Add credits.',
    actions: low.map(({ id, name }) => ({ kind: 'add_credits', workspace_id: id, name })),
  })
}

export async function checkKeys(db: Db, clock: Clock): Promise<Finding> {
  const now = clock.now()
  const active = (await listKeys(db)).filter(
    ({ revokedAt, expiresAt }) => !revokedAt && (!expiresAt || expiresAt > now),
  )
  const open = active.filter((key) => warningsOf(key).length > 0)
  const warnings = open.flatMap((key) => warningsOf(key).map((text) => `${key.id} ${key.name}: ${text}`))
  const unlimited = active.filter(({ allowedRanges }) => allowedRanges.length === 0).length
  const message = `${count(active.length, 'active key')}, ${unlimited} without an IP allowlist`
  if (warnings.length === 0) return ok('keys', `${message}.`)
  return warning(
    'keys',
    `${message}; ${count(warnings.length, 'allowlist entry', 'allowlist entries')} for all addresses.`,
    {
      details: warnings,
      effect: 'These allowlists accept every address, so they do not restrict the key.',
      remedy: 'Set the addresses that should use the key: ./parley key change ID --ip CIDR',
      consoleRemedy: 'Ask an admin of the workspace to set the addresses that should use the key.',
      actions: open.map(({ id, workspaceId, name }) => ({ kind: 'change_key', workspace_id: workspaceId, id, name })),
    },
  )
}

export async function checkLedger(db: Db): Promise<Finding> {
  const wrong = await verifyLedger(db)
  if (wrong.length === 0) return ok('ledger', 'Every balance is the sum of its entries.')
  return problem('ledger', `${count(wrong.length, 'balance')} not the sum of the entries.`, {
    details: wrong.map(
      ({ workspace_id, balance, entered }) => `${workspace_id}: balance ${balance}, sum of its entries ${entered}`,
    ),
    effect:
      'A balance and its entries change in one statement, so only a bug, or a change of the tables outside Parley, can make them differ.',
    remedy: 'Report it, with the entries of the workspace (Credits → Export CSV). Nothing corrects it automatically.',
  })
}
