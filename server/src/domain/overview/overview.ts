import type { Onboarding, OnboardingStep, Overview, Period } from '@parley/contract/console/overview'
import { can, type Permission, type Role } from '@parley/contract/console/permissions'
import type { MessageStatus } from '@parley/contract/message'
import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { bucketFields, sumByBucket, type TimeBuckets, timeBuckets } from '../../lib/time-buckets.ts'
import { creditsSpent, hadCredits, readBalance } from '../credits/credits.ts'
import { readDeliveryHours, toAttemptSeries } from '../deliveries/reading/statistics.ts'
import { listKeys } from '../keys/keys.ts'
import {
  anyReceived,
  anyReplied,
  anySent,
  hasMessages,
  messagesByBucket,
  receivedByBucket,
} from '../messages/reading/messages.ts'
import { hasTeammates } from '../people/team/members.ts'
import { errorMeaning, readTraffic } from '../requests/console.ts'
import { countActiveSenders } from '../senders/senders.ts'
import { failingFrom } from '../webhooks/endpoints.ts'
import { anyDelivered, countWebhooksOf, failingWebhooks, listWebhooks } from '../webhooks/webhooks.ts'
import { readSettings } from '../workspaces/settings.ts'

/** The person who views a workspace, with the role that decides what they may see. */
export interface Viewer {
  db: Db
  clock: Clock
  workspaceId: string
  role: Role
}

/** Counts for a period, per time bucket. Parts that the viewer's role may not see are null. */
export const readOverview = (viewer: Viewer, period: Period): Promise<Overview> =>
  overviewUntil(viewer, period, viewer.clock.now())

/** The period before that one, for comparison. Parts of which a day may be deleted already are null too. */
export async function readOverviewBefore(viewer: Viewer, period: Period, retentionDays: number): Promise<Overview> {
  const now = viewer.clock.now().getTime()
  const { from, to } = timeBuckets(period, viewer.clock.now())
  const before = await overviewUntil(viewer, period, new Date(now - (to.getTime() - from.getTime())), true)
  const isWhole = Date.parse(before.from) >= now - retentionDays * 86_400_000
  return isWhole ? before : { ...before, requests: null, deliveries: null }
}

/** `isPast` if the period has ended at `now`. */
async function overviewUntil(viewer: Viewer, period: Period, now: Date, isPast = false): Promise<Overview> {
  const steps = timeBuckets(period, now)
  const ifAllowed = <T>(permission: Permission, read: () => Promise<T>): Promise<T | null> =>
    can(viewer.role, permission) ? read() : Promise.resolve(null)
  const [messages, requests, deliveries, endpoints, credits] = await Promise.all([
    readMessages(viewer, steps),
    ifAllowed('requests:read', () => readRequests(viewer, steps)),
    ifAllowed('deliveries:read', () => readDeliveries(viewer, steps)),
    ifAllowed('webhooks:read', () => readEndpoints(viewer)),
    ifAllowed('credits:read', () => readCredits(viewer, steps.from, isPast ? now : undefined)),
  ])
  return {
    period,
    ...bucketFields(steps),
    messages,
    requests,
    deliveries,
    endpoints,
    credits,
  }
}

async function readMessages({ db, workspaceId }: Viewer, steps: TimeBuckets): Promise<Overview['messages']> {
  const [sent, received] = await Promise.all([
    messagesByBucket(db, workspaceId, steps),
    receivedByBucket(db, workspaceId, steps),
  ])
  const of = (status: MessageStatus) => sumByBucket(steps, sent, (row) => row[status])
  return {
    queued: of('queued'),
    sent: of('sent'),
    delivered: of('delivered'),
    read: of('read'),
    failed: of('failed'),
    received: sumByBucket(steps, received, ({ count }) => count),
  }
}

async function readRequests(
  { db, workspaceId }: Viewer,
  steps: TimeBuckets,
): Promise<NonNullable<Overview['requests']>> {
  const traffic = await readTraffic(db, workspaceId, steps.from)
  const of = (outcome: 'ok' | 'refused' | 'failed') =>
    sumByBucket(steps, traffic, ({ code, count }) => (outcomeOf(code) === outcome ? count : 0))
  return { ok: of('ok'), refused: of('refused'), failed: of('failed') }
}

function outcomeOf(code: string | null): 'ok' | 'refused' | 'failed' {
  if (code === null) return 'ok'
  return (errorMeaning(code).status ?? 400) >= 500 ? 'failed' : 'refused'
}

async function readDeliveries(
  { db, workspaceId }: Viewer,
  steps: TimeBuckets,
): Promise<NonNullable<Overview['deliveries']>> {
  return toAttemptSeries(steps, await readDeliveryHours(db, workspaceId, steps.from))
}

async function readEndpoints({ db, workspaceId }: Viewer): Promise<NonNullable<Overview['endpoints']>> {
  const [all, troubled] = await Promise.all([
    countWebhooksOf(db, workspaceId),
    failingWebhooks(db, workspaceId, failingFrom),
  ])
  const failing = troubled.filter(({ enabled }) => enabled).length
  return { healthy: all - troubled.length, failing, disabled: troubled.length - failing }
}

async function readCredits(
  { db, workspaceId }: Viewer,
  from: Date,
  until: Date | undefined,
): Promise<NonNullable<Overview['credits']>> {
  const [balance, spent, { lowBalance }] = await Promise.all([
    readBalance(db, workspaceId),
    creditsSpent(db, workspaceId, from, until),
    readSettings(db, workspaceId),
  ])
  const low = balance <= lowBalance && (balance > 0 || (await hadCredits(db, workspaceId)))
  return { balance, spent, low_balance: lowBalance, low }
}

/** More messages than a person who tries the service sends and receives. */
const usedFrom = 10

/** The onboarding steps. Whether each is done is derived from the data of the workspace. */
export async function readOnboarding(
  viewer: Viewer,
  person: { twoFactor: boolean; hasPasskey: boolean },
): Promise<Onboarding> {
  const { db, workspaceId } = viewer
  const [senders, hasSent, hasReceived, hasReplied, keys, webhooks, hasDelivery, hasTeammate, isUsed] =
    await Promise.all([
      countActiveSenders(db, workspaceId),
      anySent(db, workspaceId),
      anyReceived(db, workspaceId),
      anyReplied(db, workspaceId),
      listKeys(db, workspaceId),
      listWebhooks(db, workspaceId),
      anyDelivered(db, workspaceId),
      hasTeammates(db, workspaceId, viewer.clock.now()),
      hasMessages(db, workspaceId, usedFrom),
    ])
  const now = viewer.clock.now()
  const valid = keys.filter(({ revokedAt, expiresAt }) => revokedAt === null && (expiresAt === null || expiresAt > now))
  const hint = valid[0]?.hint ?? null
  const step = (kind: OnboardingStep, done: boolean, permission: Permission | null) => ({
    kind,
    done,
    permitted: permission === null || can(viewer.role, permission),
  })
  return {
    steps: [
      step('sender', senders.length > 0, 'senders:read'),
      step('send', hasSent, 'messages:send'),
      step('receive', hasReceived, 'messages:read'),
      step('reply', hasReplied, 'messages:send'),
      step('key', valid.length > 0, 'keys:manage'),
      step(
        'request',
        keys.some(({ lastUsedAt }) => lastUsedAt !== null),
        'requests:read',
      ),
      step('webhook', webhooks.length > 0, 'webhooks:manage'),
      step('delivery', hasDelivery, 'webhooks:test'),
      step('second_factor', person.twoFactor || person.hasPasskey, null),
      step('teammate', hasTeammate, 'team:manage'),
    ],
    is_new: !isUsed,
    key_hint: can(viewer.role, 'keys:read') ? hint : null,
  }
}
