import type { Problem } from '@parley/contract/console/overview'
import { can, type Permission } from '@parley/contract/console/permissions'
import { withPrefix } from '../../lib/ids.ts'
import { failingConnections } from '../connections/connections.ts'
import { readBalance } from '../credits/credits.ts'
import { failuresMax } from '../deliveries/engine/retry-policy.ts'
import { readOpenCounts } from '../deliveries/reading/statistics.ts'
import { listKeys } from '../keys/keys.ts'
import { listMuted } from '../requests/api-errors.ts'
import { errorMeaning, readTraffic, type TrafficRow } from '../requests/console.ts'
import { failingSenders } from '../senders/senders.ts'
import { failingWebhooks } from '../webhooks/webhooks.ts'
import { readSettings } from '../workspaces/settings.ts'
import type { Viewer } from './overview.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** What wants somebody's attention now, the worst first; of what the viewer's role shows. */
export async function listProblems(viewer: Viewer): Promise<Problem[]> {
  const looks: [Permission, (viewer: Viewer) => Promise<Problem[]>][] = [
    ['webhooks:read', webhookProblems],
    ['senders:read', senderProblems],
    ['senders:read', syncProblems],
    ['credits:read', balanceProblems],
    ['requests:read', refusalProblems],
    ['keys:read', keyProblems],
  ]
  const found = await Promise.all(
    looks.map(([permission, look]) => (can(viewer.role, permission) ? look(viewer) : Promise.resolve([]))),
  )
  return found.flat().sort((left, right) => rank[left.severity] - rank[right.severity])
}

const rank = { problem: 0, warning: 1 } as const

/** One failure is retried and forgotten; this many in a row are worth a look before the endpoint is disabled. */
const failuresMin = 3
/** Of each kind. */
const shownMax = 20
/** Held deliveries are counted up to this. */
const heldMax = 10_000

async function webhookProblems({ db, workspaceId }: Viewer): Promise<Problem[]> {
  const rows = (await failingWebhooks(db, workspaceId, failuresMin))
    .sort((left, right) => Number(left.enabled) - Number(right.enabled) || right.failures - left.failures)
    .slice(0, shownMax)
  const ids = rows.map(({ id }) => id)
  const open = await readOpenCounts(db, workspaceId, ids, heldMax)
  return rows.map((row) => {
    const href = `webhooks/${withPrefix('whk', row.id)}`
    const since = row.failing_since?.toISOString() ?? null
    if (row.enabled) {
      const detail = `${row.failures} attempts in a row failed; after ${failuresMax} the endpoint is disabled.`
      return { kind: 'webhook_failing', severity: 'warning', title: `${row.name} is failing`, detail, href, since }
    }
    const held = open.get(row.id)?.held ?? 0
    const shown = held >= heldMax ? `${heldMax} or more` : String(held)
    const waiting = held === 0 ? 'Nothing waits for it.' : `${shown} deliveries wait until it is enabled.`
    const detail = `${row.disabled_reason ?? 'Somebody disabled it.'} ${waiting}`
    return { kind: 'webhook_disabled', severity: 'problem', title: `${row.name} is disabled`, detail, href, since }
  })
}

async function senderProblems({ db, workspaceId }: Viewer): Promise<Problem[]> {
  return (await failingSenders(db, workspaceId)).slice(0, shownMax).map((row) => ({
    kind: 'sender_troubled',
    severity: row.status === 'CONNECTED' ? 'warning' : 'problem',
    title: row.status === 'CONNECTED' ? `${nameOf(row)} is rated red` : `${nameOf(row)} is not connected`,
    detail: `Status ${row.status}, quality ${row.quality_rating}. The network refuses or throttles what such a number sends.`,
    href: 'senders',
    since: null,
  }))
}

const nameOf = ({ display_name, phone_number }: { display_name: string | null; phone_number: string }): string =>
  display_name ? `${display_name} (+${phone_number})` : `+${phone_number}`

async function syncProblems({ db, workspaceId }: Viewer): Promise<Problem[]> {
  return (await failingConnections(db, workspaceId)).slice(0, shownMax).map((row) => ({
    kind: 'sync_failing',
    severity: 'warning',
    title: `Account ${row.waba_id} cannot be synchronised`,
    detail: `${row.sync_error ?? 'The network did not answer.'} Senders and templates are shown as they were.`,
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
  return [
    {
      kind: 'balance_low',
      severity: isOut ? 'problem' : 'warning',
      title: isOut ? 'There are no credits left' : `${balance} credits are left`,
      detail: isOut
        ? 'Every send is refused with insufficient_credits until the operator adds some.'
        : `The workspace wants to hear of it at ${low}. Ask the operator for more.`,
      href: 'credits',
      since: null,
    },
  ]
}

async function keyProblems({ db, clock, workspaceId }: Viewer): Promise<Problem[]> {
  const now = clock.now()
  const until = new Date(now.getTime() + 7 * dayMs)
  const expiring = (await listKeys(db, workspaceId)).flatMap(({ id, name, revokedAt, expiresAt }) =>
    revokedAt === null && expiresAt !== null && expiresAt > now && expiresAt <= until ? [{ id, name, expiresAt }] : [],
  )
  expiring.sort((left, right) => left.expiresAt.getTime() - right.expiresAt.getTime())
  return expiring.slice(0, shownMax).map((row) => ({
    kind: 'key_expiring',
    severity: 'warning',
    title: `The key ${row.name} expires soon`,
    detail: `From ${row.expiresAt.toISOString().slice(0, 16).replace('T', ' ')} UTC on its requests are refused.`,
    href: `keys?open=${row.id}`,
    since: null,
  }))
}

async function refusalProblems({ db, clock, workspaceId }: Viewer): Promise<Problem[]> {
  const thisHour = Math.floor(clock.now().getTime() / hourMs) * hourMs
  const [traffic, muted] = await Promise.all([
    readTraffic(db, workspaceId, new Date(thisHour - 25 * hourMs)),
    listMuted(db, workspaceId),
  ])
  const silent = new Set(muted.map(({ code }) => code))
  return risingCodes(traffic, new Date(thisHour))
    .filter(({ code }) => !silent.has(code))
    .map(({ code, recent, usual }) => ({
      kind: 'refusals_rising',
      severity: 'warning',
      title: `${errorMeaning(code).title}: more often than usual`,
      detail: `${code} came ${recent} times in the last two hours; ${usual} are usual.`,
      href: `refusals?open=${code}`,
      since: null,
    }))
}

/** Codes that came at least twenty times in this hour and the last, and three times as often as in the day before. */
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
    // 24 hours came before; two of them are what two hours usually bring.
    const usual = Math.round(sum(false) / 12)
    return recent >= 20 && recent > 3 * usual ? [{ code, recent, usual }] : []
  })
}
