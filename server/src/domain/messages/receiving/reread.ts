/**
 * Reads stored network updates again and publishes what was missed. A batch is published and removed, or marked, in one
 * transaction that locks its updates: nothing is missed or published twice if two processes do it or one dies. What was
 * published when an update arrived is not published again, because messages and statuses are unique.
 *
 * Notices are not applied: a sync has fetched the state since.
 */
import type { Db } from '../../../db/db.ts'
import { NotOwner } from '../../../db/maintenance.ts'
import { readAt } from '../../../db/revisioned-cache.ts'
import type { Clock } from '../../../lib/clock.ts'
import { withPrefix } from '../../../lib/ids.ts'
import type { Logger } from '../../../telemetry/logger.ts'
import { fieldReaders, type Incoming, interpretation, readWebhook } from '../../../whatsapp/incoming/incoming.ts'
import { splitWebhook } from '../../../whatsapp/incoming/split-webhook.ts'
import { accountKey, workspacesOfAccounts } from '../../connections/connections.ts'
import { type Destination, destinationsOf } from '../../senders/senders.ts'
import {
  deleteUpdates,
  lockUpdates,
  publishUpdates,
  type RereadFilter,
  saveReread,
  type UpdateFilter,
  type UpdateRow,
} from '../../updates/updates.ts'
import { isUpdate, saveUpdates } from './record-updates.ts'

export interface RereadDeps {
  db: Db
  clock: Clock
  log: Logger
  publicUrl: string
  /** Tests pass others. */
  readers?: typeof fieldReaders
}

export interface Reread {
  /** How many updates were read. */
  read: number
  /** How many of them are read completely now. They are removed. */
  understood: number
  /** The updates that could not be published. They stay. */
  failed: { update_id: string; reason: string }[]
}

/** Reads the updates of earlier interpretations again, after a new version has started. */
export const rereadEarlier = (deps: RereadDeps): Promise<Reread> => reread(deps, { upTo: interpretation - 1 })

/** Reads all updates again that match. */
export const rereadUpdates = (deps: RereadDeps, filter: UpdateFilter): Promise<Reread> =>
  reread(deps, { ...filter, upTo: interpretation })

/** Of a batch. */
const batchMax = 100
const maxBytes = 1_000_000

async function reread(deps: RereadDeps, filter: Omit<RereadFilter, 'afterId'>): Promise<Reread> {
  const { log } = deps
  const total = { read: 0, understood: 0 }
  const failures: Reread['failed'] = []
  let afterId = '00000000-0000-0000-0000-000000000000'
  let most = batchMax
  for (;;) {
    const taken: UpdateRow[] = []
    try {
      const understood = await rereadBatch(deps, { ...filter, afterId }, most, taken)
      const last = taken.at(-1)
      if (!last) break
      total.read += taken.length
      total.understood += understood
      afterId = last.id
    } catch (error) {
      const [failed] = taken
      // Without one, the database failed, not an update.
      if (error instanceof NotOwner || !failed) throw error
      if (most > 1) {
        // One at a time, to find the update that fails.
        most = 1
        continue
      }
      log.error({ event: 'update.reread_failed', update_id: failed.id, err: error }, 'reading an update again failed')
      failures.push({ update_id: withPrefix('upd', failed.id), reason: String(error) })
      // A later version tries again.
      await saveReread(deps.db, { updates: [failed], interpretation })
      afterId = failed.id
      most = batchMax
    }
  }
  if (total.read > 0) log.info({ event: 'update.reread', ...total }, 'read stored updates again')
  return { ...total, failed: failures }
}

/** Returns how many of `taken`, to which it adds the updates of the batch, are understood now. */
function rereadBatch(
  { db, clock, publicUrl, readers = fieldReaders }: RereadDeps,
  filter: RereadFilter,
  most: number,
  taken: UpdateRow[],
): Promise<number> {
  return db.transaction(async (tx) => {
    const now = clock.now()
    taken.push(...(await lockUpdates(tx, filter, { updates: most, bytes: maxBytes })))
    if (taken.length === 0) return 0
    const read = taken.map((update) => ({
      update,
      items: readWebhook(JSON.parse(update.webhook), update.receivedAt, readers),
    }))
    const ownerOf = await findOwners(tx, taken)
    const results = read.map(({ update, items }) => resultOf(update, items, ownerOf(update)))
    const gone = results.filter(({ isUnderstood }) => isUnderstood).map(({ update }) => update.id)
    const stay = results.filter(({ isUnderstood }) => !isUnderstood).map(({ update }) => update)
    if (gone.length > 0) await deleteUpdates(tx, gone)
    if (stay.length > 0) await saveReread(tx, { updates: stay, interpretation })
    const withoutWorkspace = new Set(taken.filter(({ workspaceId }) => workspaceId === null).map(({ id }) => id))
    const news = stay.filter(({ id }) => withoutWorkspace.has(id))
    await publishUpdates(tx, now, news)
    const routed = read.flatMap(({ update, items }) => {
      const { destination } = ownerOf(update)
      return destination === null ? [] : items.filter(isUpdate).map((item) => ({ item, destination }))
    })
    await saveUpdates(tx, now, routed, publicUrl)
    return gone.length
  })
}

interface Owner {
  /** The sender of its number. Null if it names none, or an unknown one. */
  destination: Destination | null
  workspaceId: string | null
}

function resultOf(update: UpdateRow, items: readonly Incoming[], { destination, workspaceId }: Owner) {
  const unread = items.find((item) => item.kind === 'unread')
  // Its account may not be connected yet, so that nothing was published.
  const isPublished = destination !== null || !items.some(isUpdate)
  if (unread === undefined && isPublished && workspaceId !== null) return { update, isUnderstood: true }
  const { outcome, paths } = unread ?? update
  const senderId = destination?.senderId ?? update.senderId
  return { update: { ...update, workspaceId, senderId, outcome, paths: [...paths] }, isUnderstood: false }
}

/** Who has the numbers and accounts of these updates now: accounts may have been connected since. */
async function findOwners(tx: Db, updates: readonly UpdateRow[]): Promise<(update: UpdateRow) => Owner> {
  const placed = updates.map((update) => ({ update, ...placeOf(update) }))
  const numbers = placed.flatMap(({ update: { appId }, phoneNumberId }) =>
    phoneNumberId === null ? [] : [{ appId, phoneNumberId }],
  )
  const keyOf = (appId: string, phoneNumberId: string | null) => `${appId} ${phoneNumberId}`
  const { values } = readAt(await destinationsOf(tx, numbers), 'senderId', (each) => [
    keyOf(each.appId, each.phoneNumberId),
    each,
  ])
  const destinations = new Map(values)
  const accounts = placed.flatMap(({ update: { appId }, wabaId }) => (wabaId === null ? [] : [{ appId, wabaId }]))
  const workspaces = await workspacesOfAccounts(tx, accounts)
  const owners = new Map(
    placed.map(({ update, wabaId, phoneNumberId }): [string, Owner] => {
      const destination = destinations.get(keyOf(update.appId, phoneNumberId)) ?? null
      const account = phoneNumberId === null ? workspaces.get(accountKey({ appId: update.appId, wabaId })) : undefined
      return [
        update.id,
        { destination, workspaceId: destination?.workspaceId ?? update.workspaceId ?? account ?? null },
      ]
    }),
  )
  return ({ id }) => owners.get(id) ?? { destination: null, workspaceId: null }
}

function placeOf({ webhook }: UpdateRow) {
  const { wabaId = null, phoneNumberId = null } = splitWebhook(webhook)[0] ?? {}
  return { wabaId, phoneNumberId }
}
