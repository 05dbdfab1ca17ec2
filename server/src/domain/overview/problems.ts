import type { Problem } from '@parley/contract/console/overview'
import { can, type Permission } from '@parley/contract/console/permissions'
import { formatTime } from '../../lib/format.ts'
import { withPrefix } from '../../lib/ids.ts'
import { expiringTokens, failingConnections } from '../connections/connections.ts'
import { hadCredits, readBalance } from '../credits/credits.ts'
import { failuresMax } from '../deliveries/engine/retry-policy.ts'
import { readOpenCounts } from '../deliveries/reading/statistics.ts'
import { expiringKeys } from '../keys/keys.ts'
import { listMuted } from '../requests/api-errors.ts'
import { errorMeaning, readTraffic, type TrafficRow } from '../requests/console.ts'
import { failingSenders } from '../senders/senders.ts'
import { failingWebhooks } from '../webhooks/webhooks.ts'
import { readSettings } from '../workspaces/settings.ts'
import type { Viewer } from './overview.ts'

const hourMs = 3_600_000

/** Current problems of a workspace that the viewer's role may see, most severe first. */
export async function listProblems(viewer: Viewer): Promise<Problem[]> {
  const checks: [Permission, (viewer: Viewer) => Promise<Problem[]>][] = [
    ['webhooks:read', webhookProblems],
    ['senders:read', senderProblems],
    ['senders:read', syncProblems],
    ['credits:read', balanceProblems],
    ['requests:read', apiErrorProblems],
    ['keys:read', keyProblems],
    ['network:sync', tokenProblems],
  ]
  const found = await Promise.all(
    checks.map(([permission, check]) => (can(viewer.role, permission) ? check(viewer) : Promise.resolve([]))),
  )
  return found.flat().sort((left, right) => rank[left.severity] - rank[right.severity])
}

const rank = { problem: 0, warning: 1 } as const

/** A single failure is retried. From this many in a row on, the webhook is listed, before it is disabled. */
const minFailures = 3
/** Problems listed per kind. */
const maxPerKind = 20
/** Held deliveries are counted up to this number. */
const maxHeld = 10_000

async function webhookProblems({ db, workspaceId }: Viewer): Promise<Problem[]> {
  const rows = (await failingWebhooks(db, workspaceId, minFailures))
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
    const detail = `${row.disabled_reason ?? 'It was disabled manually.'} ${waiting}`
    return { kind: 'webhook_disabled', severity: 'problem', title: `${row.name} is disabled`, detail, href, since }
  })
}

async function senderProblems({ db, workspaceId }: Viewer): Promise<Problem[]> {
  return (await failingSenders(db, workspaceId)).slice(0, maxPerKind).map((row) => ({
    kind: 'sender_troubled',
    severity: row.status === 'CONNECTED' ? 'warning' : 'problem',
    title: row.status === 'CONNECTED' ? `${nameOf(row)} has a low quality rating` : `${nameOf(row)} is not connected`,
    detail: `Status ${row.status}, quality ${qualityWords[row.quality_rating ?? ''] ?? 'not rated'}. WhatsApp rejects or throttles messages from this number.`,
    href: 'senders',
    since: null,
  }))
}

/** The words of the console for WhatsApp's ratings. */
const qualityWords: Readonly<Record<string, string>> = { GREEN: 'high', YELLOW: 'medium', RED: 'low' }

const nameOf = ({ display_name, phone_number }: { display_name: string | null; phone_number: string }): string =>
  display_name ? `${display_name} (+${phone_number})` : `+${phone_number}`

async function syncProblems({ db, workspaceId }: Viewer): Promise<Problem[]> {
  return (await failingConnections(db, workspaceId)).slice(0, maxPerKind).map((row) => ({
    kind: 'sync_failing',
    severity: 'warning',
    title: `Account ${row.waba_id} cannot be synced`,
    detail: `${row.sync_error ?? 'WhatsApp did not respond.'} Senders and templates may be out of date.`,
    href: 'senders',
    since: row.synced_at?.toISOString() ?? null,
  }))
}

async function balanceProblems({ db, workspaceId }: Viewer): Promise<Problem[]> {
  const [balance, { lowBalance: low }] = await Promise.all([
    readBalance(db, workspaceId),
    readSettings(db, workspaceId),
  ])
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

async function keyProblems({ db, clock, workspaceId }: Viewer): Promise<Problem[]> {
  const expiring = await expiringKeys(db, workspaceId, clock.now())
  return expiring.slice(0, maxPerKind).map((row) => ({
    kind: 'key_expiring',
    severity: 'warning',
    title: `API key ${row.name} expires soon`,
    detail: `It expires on ${formatTime(row.expiresAt)}. Rotate it before then.`,
    href: `keys?open=${row.id}`,
    since: null,
  }))
}

async function tokenProblems({ db, clock, workspaceId }: Viewer): Promise<Problem[]> {
  return (await expiringTokens(db, workspaceId, clock.now())).slice(0, maxPerKind).map(({ wabaId, expiresAt }) => ({
    kind: 'token_expiring',
    severity: 'warning',
    title: `The access token of account ${wabaId} expires soon`,
    detail: `It expires on ${formatTime(expiresAt)}. Ask the operator to replace it: without a new one, the account cannot send.`,
    href: 'senders',
    since: null,
  }))
}

async function apiErrorProblems({ db, clock, workspaceId }: Viewer): Promise<Problem[]> {
  const thisHour = Math.floor(clock.now().getTime() / hourMs) * hourMs
  const [traffic, muted] = await Promise.all([
    readTraffic(db, workspaceId, new Date(thisHour - 25 * hourMs)),
    listMuted(db, workspaceId),
  ])
  const mutedCodes = new Set(muted.map(({ code }) => code))
  return risingCodes(traffic, new Date(thisHour))
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
    // The average of two hours over the 24 hours before.
    const usual = Math.round(sum(false) / 12)
    return recent >= 20 && recent > 3 * usual ? [{ code, recent, usual }] : []
  })
}
