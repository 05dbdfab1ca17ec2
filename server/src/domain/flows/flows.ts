import type { ListTotal } from '@parley/contract/console/list'
import { parseExactly } from '@parley/contract/exact-json'
import type { FlowResponse, FlowResponseFilters, FlowResponseWithFiles } from '@parley/contract/flow-response'
import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { withoutPrefix, withPrefix } from '../../lib/ids.ts'
import type { KeySet } from '../../lib/key-set.ts'
import { refuse } from '../../lib/refuse.ts'
import { filesByResponse, type ListedFile } from '../files/files.ts'
import { openFile, type StoredFile } from '../files/read.ts'
import { type ResponseRow, responseById, responseList } from './flows.sql.ts'

export { responsesOfMessages } from './flows.sql.ts'

export type ResponseWithFiles = ResponseRow & { files: ListedFile[] }

/** Submitted forms, each with its files and their download state. */
export async function listFlowResponses(
  db: Db,
  workspaceId: string,
  filters: FlowResponseFilters,
  page: KeySet,
): Promise<ResponseWithFiles[]> {
  const rows = await responseList.rows<ResponseRow>(db, toValues(workspaceId, filters), page)
  return withFiles(db, workspaceId, rows)
}

export async function withFiles(
  db: Db,
  workspaceId: string,
  rows: readonly ResponseRow[],
): Promise<ResponseWithFiles[]> {
  const ids = rows.map(({ id }) => id)
  const files = await filesByResponse(db, workspaceId, ids)
  return rows.map((row) => ({ ...row, files: files.get(row.id) ?? [] }))
}

export const totalOfFlowResponses = (db: Db, workspaceId: string, filters: FlowResponseFilters): Promise<ListTotal> =>
  responseList.total(db, toValues(workspaceId, filters))

const toValues = (workspaceId: string, filters: FlowResponseFilters) => ({
  workspaceId,
  from: filters.from?.replace(/^\+/, ''),
  flowId: filters.flow_id,
  receivedAfter: filters.received_after,
  receivedBefore: filters.received_before,
})

export async function getFlowResponse(db: Db, workspaceId: string, id: string): Promise<FlowResponseWithFiles> {
  const uuid = withoutPrefix('frs', id)
  const row = uuid && (await responseById(db, workspaceId, uuid))
  const [found] = row ? await withFiles(db, workspaceId, [row]) : []
  return found ? toFlowResponseWithFiles(found) : refuse('not_found')
}

/** The contents of an uploaded file. A file of another workspace is not found. */
export async function openFlowFile(
  db: Db,
  clock: Clock,
  workspaceId: string,
  id: string,
  index: number,
): Promise<StoredFile> {
  const uuid = withoutPrefix('frs', id)
  return uuid ? openFile(db, clock, workspaceId, uuid, index) : refuse('not_found')
}

export const toFlowResponseWithFiles = (row: ResponseWithFiles): FlowResponseWithFiles => ({
  id: withPrefix('frs', row.id),
  object: 'flow_response',
  message_id: withPrefix('msg', row.message_id),
  from: row.sent_by,
  from_user_id: row.sent_by_user_id,
  flow_token: row.flow_token,
  flow_id: row.flow_id,
  source_message_id: row.source_message_id && withPrefix('msg', row.source_message_id),
  template_id: row.template_id && withPrefix('tpl', row.template_id),
  response: row.content_removed_at ? null : (parseExactly(row.response) as Record<string, unknown>),
  files: row.files,
  received_at: row.received_at.toISOString(),
  content_removed_at: row.content_removed_at?.toISOString() ?? null,
})

/** As the API returns it: only the console shows the download state of the files. */
export const toFlowResponse = (response: FlowResponseWithFiles): FlowResponse => ({
  ...response,
  files: response.files.map(({ state: _, ...file }) => file),
})
