/** Removes what people filled in, and finds it for an export. Submissions stay, without answers. */
import type { FlowResponseWithFiles } from '@parley/contract/flow-response'
import type { Db } from '../../db/db.ts'
import { expireFiles } from '../files/fetching.ts'
import { eraseResponses, removeResponses, responsesOfMessages } from './flows.sql.ts'
import { toFlowResponseWithFiles, withFiles } from './flows.ts'

export { deleteTokens as eraseTokens } from './flows.sql.ts'

/** Removes the answers and files of the forms that arrived as these messages. Run within a transaction. */
export async function removeAnswers(tx: Db, messageIds: readonly string[], now: Date): Promise<void> {
  const removed = await removeResponses(tx, messageIds, now)
  const ids = removed.map(({ id }) => id)
  await expireFiles(tx, 'response_id', ids)
}

/** The same, and who submitted them. Returns how many submissions and files there were. Run within a transaction. */
export async function eraseAnswers(
  tx: Db,
  workspaceId: string,
  messageIds: readonly string[],
  now: Date,
): Promise<{ responses: number; files: number }> {
  const erased = await eraseResponses(tx, workspaceId, messageIds, now)
  const ids = erased.map(({ id }) => id)
  return { responses: ids.length, files: await expireFiles(tx, 'response_id', ids) }
}

/** The submissions that arrived as these messages, by message. */
export async function formsOfMessages(
  db: Db,
  workspaceId: string,
  messageIds: readonly string[],
): Promise<Map<string, FlowResponseWithFiles>> {
  const rows = await responsesOfMessages(db, workspaceId, messageIds)
  const found = await withFiles(db, workspaceId, rows)
  return new Map(found.map((row) => [row.message_id, toFlowResponseWithFiles(row)]))
}
