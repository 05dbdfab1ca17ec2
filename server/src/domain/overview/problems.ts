import type { Problem } from '@parley/contract/console/overview'
import { can, type Permission } from '@parley/contract/console/permissions'
import { formatTime } from '../../lib/format.ts'
import { withPrefix } from '../../lib/ids.ts'
import { expiringTokens, failingConnections } from '../connections/connections.ts'
import { hadCredits, readBalance } from '../credits/credits.ts'
import { failuresMax } from '../deliveries/engine/attempt/retry-policy.ts'
import { readOpenCounts } from '../deliveries/reading/statistics.ts'
import { expiringKeys } from '../keys/keys.ts'
import { listMuted } from '../requests/api-errors.ts'
import { errorMeaning, readTraffic, type TrafficRow } from '../requests/console.ts'
import { failingSenders } from '../senders/senders.ts'
import { failingFrom } from '../webhooks/endpoints.ts'
import { failingWebhooks } from '../webhooks/webhooks.ts'
import { readSettings } from '../workspaces/settings.ts'
import type { Viewer } from './overview.ts'

/**
 * Current problems of a workspace that the viewer's role may see, most severe first. Every page of the console asks for them, so
 * they are read in one round trip on one connection. Details that only some problems need are read afterwards.
 */
export async function listProblems(viewer: Viewer): Promise<Problem[]> {
  const permitted = checks.filter(({ permission }) => can(viewer.role, permission))
  const toProblems = await viewer.db.transactionAtOnce((db) =>
    Promise.all(permitted.map(({ read }) => read({ ...viewer, db }))),
  )
  const found: Problem[] = []
  for (const problemsOf of toProblems) found.push(...(await problemsOf(viewer)))
  return found.sort((left, right) => rank[left.severity] - rank[right.severity])
}

type ToProblems = (viewer: Viewer) => Problem[] | Promise<Problem[]>

interface Check {
  permission: Permission
  /** Sends its statements immediately, before it waits for any of them. */
  read(viewer: Viewer): Promise<ToProblems>
}

const checkOf = <Found>(
  permission: Permission,
  read: (viewer: Viewer) => Promise<Found>,
  toProblems: (found: Found, viewer: Viewer) => Problem[] | Promise<Problem[]>,
): Check => ({
  permission,
  async read(viewer) {
    const found = await read(viewer)
    return (after) => toProblems(found, after)
  },
})

const rank = { problem: 0, warning: 1 } as const

const maxPerKind = 20
const maxHeld = 10_000

type Rows<Read extends (...input: never[]) => Promise<unknown>> = Awaited<ReturnType<Read>>

async function webhookProblems(failing: Rows<typeof failingWebhooks>, { db, workspaceId }: Viewer): Promise<Problem[]> {
  const rows = failing
    .sort((left, right) => Number(left.enabled) - Number(right.enabled) || right.failures - left.failures)
    .slice(0, maxPerKind)
  const ids = rows.map(({ id }) => id)
  const open = await readOpenCounts(db, workspaceId, ids, maxHeld)
  return rows.map((row) => {
    const href = `webhooks/${withPrefix('whk', row.id)}`
    const since = row.failing_since?.toISOString() ?? null
    if (row.enabled) {
      const detail = `${row.failures} attempts in a row failed. After ${failuresMax}, the webhook is disabled.`
      return { kind: 'webhook_failing', severity: 'warning', title: `${row.name} is failing`, detail, href, since }
    }
    const held = open.get(row.id)?.held ?? 0
    const count =
      held >= maxHeld ? `${maxHeld} or more deliveries are` : held === 1 ? '1 delivery is' : `${held} deliveries are`
    const waiting = held === 0 ? 'No deliveries are held.' : `${count} held until you enable it.`
    const detail = `${asSentence(row.disabled_reason ?? 'It was disabled manually')} ${waiting}`
    return { kind: 'webhook_disabled', severity: 'problem', title: `${row.name} is disabled`, detail, href, since }
  })
}

/** People type a reason with or without a period. */
const asSentence = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`)

const senderProblems = (failing: Rows<typeof failingSenders>): Problem[] =>
  failing.slice(0, maxPerKind).map((row) => ({
    kind: 'sender_troubled',
    severity: row.status === 'CONNECTED' ? 'warning' : 'problem',
    title: row.status === 'CONNECTED' ? `${nameOf(row)} has a low quality rating` : `${nameOf(row)} is not connected`,
    detail: `Status ${row.status}, quality ${qualityWords[row.quality_rating ?? ''] ?? 'not rated'}. WhatsApp rejects or throttles messages from this number.`,
    href: `senders/${withPrefix('snd', row.id)}`,
    since: null,
  }))

/** The words of the console for WhatsApp's ratings. */
const qualityWords: Readonly<Record<string, string>> = { GREEN: 'high', YELLOW: 'medium', RED: 'low' }

const nameOf = ({ display_name, phone_number }: { display_name: string | null; phone_number: string }): string =>
  display_name ? `${display_name} (+${phone_number})` : `+${phone_number}`

const syncProblems = (failing: Rows<typeof failingConnections>): Problem[] =>
  failing.slice(0, maxPerKind).map((row) => ({
    kind: 'sync_failing',
    severity: 'warning',
    title: `Account ${row.waba_id} cannot be synced`,
    detail: `${row.sync_error ?? 'WhatsApp did not respond.'} Senders and templates may be out of date.`,
    href: 'senders',
    since: row.synced_at?.toISOString() ?? null,
  }))

async function balanceProblems(
  [balance, { lowBalance: low }]: readonly [number, { lowBalance: number }],
  { db, workspaceId }: Viewer,
): Promise<Problem[]> {
  if (balance > low) return []
  const isOut = balance <= 0
  const isNew = isOut && !(await hadCredits(db, workspaceId))
  return [
    {
      kind: 'balance_low',
      severity: isOut && !isNew ? 'problem' : 'warning',
      title: isNew ? 'No credits yet' : isOut ? 'No credits left' : `${balance} credits left`,
      detail: isOut
        ? 'Every send fails with insufficient_credits. Ask the operator to add credits.'
        : `The balance is at or below the warning level of ${low}. Ask the operator to add credits.`,
      href: 'credits',
      since: null,
    },
  ]
}

const keyProblems = (expiring: Rows<typeof expiringKeys>): Problem[] =>
  expiring.slice(0, maxPerKind).map((row) => ({
    kind: 'key_expiring',
    severity: 'warning',
    title: `API key ${row.name} expires soon`,
    detail: `It expires on ${formatTime(row.expiresAt)}. Rotate it before then.`,
    href: `keys?open=${row.id}`,
    since: null,
  }))

const tokenProblems = (expiring: Rows<typeof expiringTokens>): Problem[] =>
  expiring.slice(0, maxPerKind).map(({ wabaId, expiresAt }) => ({
    kind: 'token_expiring',
    severity: 'warning',
    title: `The access token of account ${wabaId} expires soon`,
    detail: `It expires on ${formatTime(expiresAt)}. Ask the operator to replace it: without a new one, the account cannot send.`,
    href: 'senders',
    since: null,
  }))

const hourOf = ({ clock }: Viewer): number => Math.floor(clock.now().getTime() / hourMs) * hourMs

function apiErrorProblems(
  [traffic, muted]: readonly [readonly TrafficRow[], Rows<typeof listMuted>],
  viewer: Viewer,
): Problem[] {
  const mutedCodes = new Set(muted.map(({ code }) => code))
  return risingCodes(traffic, new Date(hourOf(viewer)))
    .filter(({ code }) => !mutedCodes.has(code))
    .map(({ code, recent, usual }) => ({
      kind: 'refusals_rising',
      severity: 'warning',
      title: `${errorMeaning(code).title}: more errors than usual`,
      detail: `${code} occurred ${recent} times in the last two hours. The usual number is ${usual}.`,
      href: `api-errors?open=${code}`,
      since: null,
    }))
}

const checks: readonly Check[] = [
  checkOf('webhooks:read', ({ db, workspaceId }) => failingWebhooks(db, workspaceId, failingFrom), webhookProblems),
  checkOf('senders:read', ({ db, workspaceId }) => failingSenders(db, workspaceId), senderProblems),
  checkOf('senders:read', ({ db, workspaceId }) => failingConnections(db, workspaceId), syncProblems),
  checkOf(
    'credits:read',
    ({ db, workspaceId }) => Promise.all([readBalance(db, workspaceId), readSettings(db, workspaceId)]),
    balanceProblems,
  ),
  checkOf(
    'requests:read',
    (viewer) => {
      const { db, workspaceId } = viewer
      const since = new Date(hourOf(viewer) - 25 * hourMs)
      return Promise.all([readTraffic(db, workspaceId, since), listMuted(db, workspaceId)])
    },
    apiErrorProblems,
  ),
  checkOf('keys:read', ({ db, clock, workspaceId }) => expiringKeys(db, workspaceId, clock.now()), keyProblems),
  checkOf('network:sync', ({ db, clock, workspaceId }) => expiringTokens(db, workspaceId, clock.now()), tokenProblems),
]

export const hourMs = 3_600_000

/** Codes with at least 20 errors in this hour and the last one, and more than three times the average of the day before. */
export function risingCodes(
  traffic: readonly TrafficRow[],
  thisHour: Date,
): { code: string; recent: number; usual: number }[] {
  const recentFrom = thisHour.getTime() - hourMs
  const byCode = Map.groupBy(
    traffic.filter((row): row is TrafficRow & { code: string } => row.code !== null),
    (row) => row.code,
  )
  return [...byCode].flatMap(([code, rows]) => {
    const sum = (isRecent: boolean) =>
      rows.filter(({ hour }) => hour.getTime() >= recentFrom === isRecent).reduce((all, { count }) => all + count, 0)
    const recent = sum(true)
    // The average for two hours, from the 24 hours before.
    const usual = Math.round(sum(false) / 12)
    return recent >= 20 && recent > 3 * usual ? [{ code, recent, usual }] : []
  })
}
