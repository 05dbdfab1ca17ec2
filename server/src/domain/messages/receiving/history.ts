import type { HistoryImportedData } from '@parley/contract/service-events'
import type { Db } from '../../../db/db.ts'
import { withPrefix } from '../../../lib/ids.ts'
import type { HistoryChunk, PastMessage } from '../../../whatsapp/incoming/history.ts'
import { publish } from '../../deliveries/engine/publish/publish.ts'
import { wakeFetching } from '../../files/received.ts'
import type { Destination } from '../../senders/senders.ts'
import { insertChunk } from './history.sql.ts'
import { findReceivedMessages, type InboundRow } from './inbound.sql.ts'
import { filesOf, keyOf, networkKeyOf, past, toRow, withoutOwn } from './inbound.ts'

/**
 * Imports past messages and publishes `history.imported` for each chunk. The messages have no events, because they are past. One
 * that is stored already stays as it is, except that a placeholder gets its file. A message that also arrives live gets its
 * event then.
 * Run it within a transaction.
 */
export async function saveHistory(
  tx: Db,
  now: Date,
  chunks: readonly { item: HistoryChunk; destination: Destination }[],
): Promise<void> {
  for (const { item, destination } of chunks) {
    const { workspaceId, senderId } = destination
    const messages = await importMessages(tx, now, item.messages, destination)
    // A chunk without a position has files of earlier ones.
    const { phase, chunkOrder, progress } = item
    const position = { phase: phase ?? -1, chunkOrder: chunkOrder ?? -1, progress: progress ?? -1 }
    const chunk = { senderId, workspaceId, importedAt: now, ...position }
    const isNew = phase !== null && (await insertChunk(tx, chunk)) > 0
    if (!isNew && messages === 0) continue
    const data: HistoryImportedData = { sender_id: withPrefix('snd', senderId), phase, progress, messages }
    await publish(tx, now, [{ workspaceId, type: 'history.imported', data }])
  }
}

/** Returns how many messages are new or got their file. */
async function importMessages(
  tx: Db,
  now: Date,
  messages: readonly PastMessage[],
  destination: Destination,
): Promise<number> {
  const once = new Map(messages.map((each) => [each.item.waMessageId, { ...each, destination }]))
  const arrivals = await withoutOwn(tx, [...once.values()])
  if (arrivals.length === 0) return 0
  const stored = await findReceivedMessages(tx, arrivals.map(networkKeyOf))
  const ids = new Map(stored.map(({ senderId, waMessageId, id }) => [keyOf(senderId, waMessageId), id]))
  const idOf = ({ item }: PastMessage) => ids.get(keyOf(destination.senderId, item.waMessageId))
  const save = async (those: typeof arrivals, store: typeof past.insert) => {
    if (those.length === 0) return 0
    const rows = those.map((each): InboundRow => {
      const row = toRow(each.item, destination, now, { status: each.status, id: idOf(each) })
      return { ...row, content: { ...row.content, past: true } }
    })
    const files = filesOf(those, rows, now)
    if (files.rows.length > 0) wakeFetching(tx)
    return (await store(tx, rows, files, now)).length
  }
  const isFile = (each: PastMessage) => idOf(each) !== undefined && each.item.media !== null
  return (
    (await save(
      arrivals.filter((each) => idOf(each) === undefined),
      past.insert,
    )) + (await save(arrivals.filter(isFile), past.fill))
  )
}
