/**
 * Network updates: changes of the network's webhooks that were not understood completely, each as it arrived. They are stored in
 * the transaction of the rest of their webhook, and read again when the interpretation has changed (`messages/receiving/reread.ts`).
 */
import { parseExactly } from '@parley/contract/exact-json'
import type { NetworkUpdate, NetworkUpdateData, UpdateOutcome } from '@parley/contract/network-update'
import type { Db } from '../../db/db.ts'
import { inBatches } from '../../db/in-batches.ts'
import { sha256 } from '../../lib/hash.ts'
import { firstIdAt, newUuid, withoutPrefix, withPrefix } from '../../lib/ids.ts'
import { refuse } from '../../lib/refuse.ts'
import { interpretation } from '../../whatsapp/incoming/incoming.ts'
import { isNamedField } from '../../whatsapp/incoming/known-fields.ts'
import { depthOf } from '../../whatsapp/incoming/raw-json.ts'
import { valueIn } from '../../whatsapp/incoming/split-webhook.ts'
import { publish } from '../deliveries/engine/publish/publish.ts'
import {
  countUpdates,
  deleteUpdatesBefore,
  insertUpdates,
  selectSummaries,
  selectUpdate,
  selectUpdates,
  type UpdateCount,
  type UpdateFilter,
  type UpdateRow,
  type UpdateSummary,
} from './updates.sql.ts'

export { deleteUpdates, lockUpdates, type RereadFilter, saveReread } from './updates.sql.ts'
export type { UpdateCount, UpdateFilter, UpdateRow, UpdateSummary }

export interface NewUpdate {
  appId: string
  /** Null: no workspace has connected the account. */
  workspaceId: string | null
  senderId: string | null
  field: string
  outcome: UpdateOutcome
  paths: readonly string[]
  /** The change as a webhook of its own. */
  webhook: string
}

/**
 * Stores updates, each once however often the network repeats it, and publishes `network.update` for the new ones of a
 * workspace. Run it within the transaction of the rest of their webhooks, before the rest: `reread` locks updates first too.
 */
export async function storeUpdates(tx: Db, now: Date, updates: readonly NewUpdate[]): Promise<void> {
  if (updates.length === 0) return
  const rows = updates.map((update) => ({
    ...update,
    id: newUuid(now.getTime()),
    digest: sha256(update.webhook),
  }))
  const stored = await insertUpdates(tx, { updates: rows, now, interpretation })
  const added = rows.filter(({ id }) => stored.some((each) => each.id === id))
  tx.afterCommit(() => {
    for (const { field, outcome } of added) {
      tx.telemetry.metrics.add('network updates', `${isNamedField(field) ? field : 'other'} ${outcome}`)
    }
  })
  await publishUpdates(tx, now, added)
}

/** Publishes `network.update` for updates that have a workspace. */
export const publishUpdates = (
  tx: Db,
  now: Date,
  updates: readonly (Omit<NewUpdate, 'appId'> & { id: string })[],
): Promise<void> =>
  publish(
    tx,
    now,
    updates.flatMap(({ workspaceId, id, field, senderId, outcome, webhook }) => {
      if (workspaceId === null) return []
      const data: NetworkUpdateData = {
        update_id: withPrefix('upd', id),
        field,
        sender_id: senderId && withPrefix('snd', senderId),
        outcome,
        value: readValue(webhook),
      }
      return [{ workspaceId, type: 'network.update' as const, data }]
    }),
  )

/** JSON that is nested more deeply cannot be written again. The network sends none. */
const maxDepth = 500

/** The value as it arrived, with its numbers. As text if it is nested too deeply. */
function readValue(webhook: string): unknown {
  const text = valueIn(webhook)
  return depthOf(text) > maxDepth ? text : parseExactly(text)
}

export const toNetworkUpdate = (row: UpdateRow): NetworkUpdate => ({
  ...toSummary(row),
  value: readValue(row.webhook),
})

export const toSummary = ({ id, field, senderId, receivedAt, outcome }: UpdateSummary) => ({
  id: withPrefix('upd', id),
  object: 'network_update' as const,
  field,
  sender_id: senderId && withPrefix('snd', senderId),
  received_at: receivedAt.toISOString(),
  outcome,
})

/** The latest updates without their values, of one workspace or of all. `beforeId` is the last one of the page before. */
export const listUpdates = (db: Db, filter: UpdateFilter, take: number, beforeId: string | null = null) =>
  selectSummaries(db, filter, beforeId, take)

/** The latest updates with their values. */
export const listWholeUpdates = (db: Db, filter: UpdateFilter, take: number) => selectUpdates(db, filter, null, take)

/** The update with an ID such as `upd_…`. */
export async function requireUpdate(db: Db, id: string): Promise<UpdateRow> {
  const uuid = withoutPrefix('upd', id)
  return (uuid && (await selectUpdate(db, uuid))) || refuse('not_found')
}

/** How many updates of each field arrived since a time. */
export const countUpdatesSince = (db: Db, filter: UpdateFilter, since: Date): Promise<UpdateCount[]> =>
  countUpdates(db, filter, firstIdAt(since))

/** Deletes updates that are older than the retention. */
export async function deleteOldUpdates(db: Db, now: Date, retentionDays: number): Promise<void> {
  const beforeId = firstIdAt(new Date(now.getTime() - retentionDays * 86_400_000))
  await inBatches((limit) => deleteUpdatesBefore(db, beforeId, limit))
}
