import type { FlowResponseFilters } from '@parley/contract/flow-response'
import type { Db } from '../../db/db.ts'
import { type KeySet, keySetClause, keySetValues } from '../../lib/key-set.ts'

export interface NewResponse {
  id: string
  workspaceId: string
  messageId: string
  senderId: string
  sentBy: string | null
  sentByUserId: string | null
  name: string | null
  flowToken: string | null
  quotedWaMessageId: string | null
  response: object
  receivedAt: Date
}

/** What could be traced of a submission. */
export interface Traced {
  id: string
  flowToken: string | null
  flowId: string | null
  sourceMessageId: string | null
  templateId: string | null
}

/**
 * Keeps submissions, each with the message that carried its form: the quoted one; else the latest with its token to the
 * same person; else, for the network may write a person's number in another way, the only one that ever had the token.
 */
export const insertResponses = (db: Db, rows: readonly NewResponse[], now: Date): Promise<Traced[]> =>
  db.rows(
    `insert into flow_responses (id, workspace_id, message_id, sender_id, sent_by, sent_by_user_id, name, flow_token,
       flow_id, source_message_id, template_id, response, received_at, created_at)
     select n.id, n.workspace_id, n.message_id, n.sender_id, n.sent_by, n.sent_by_user_id, n.name,
       coalesce(n.flow_token, s.token), s.flow_id, s.message_id, s.template_id, n.response, n.received_at, $12
     from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::text[], $7::text[], $8::text[],
       $9::text[], $10::json[], $11::timestamptz[])
       as n(id, workspace_id, message_id, sender_id, sent_by, sent_by_user_id, name, flow_token, quoted, response,
         received_at)
     left join lateral (
       select * from (
         select 1 as rank, m.id as message_id, m.template_id, t.flow_id, t.token
         from messages m left join flow_tokens t on t.message_id = m.id
         where m.sender_id = n.sender_id and m.wa_message_id = n.quoted and m.workspace_id = n.workspace_id
         union all
         (select 2, t.message_id, t.template_id, t.flow_id, t.token from flow_tokens t
          where t.workspace_id = n.workspace_id and t.token = n.flow_token and t.recipient = n.sent_by
            and t.sender_id = n.sender_id
          order by t.created_at desc limit 1)
         union all
         select 3, o.message_id, o.template_id, o.flow_id, o.token
         from (select t.*, count(*) over () as bearers from (
             select * from flow_tokens t where t.workspace_id = n.workspace_id and t.token = n.flow_token limit 2) t) o
         where o.bearers = 1 and o.sender_id = n.sender_id
       ) candidates order by rank limit 1
     ) s on true
     order by n.id
     returning id, flow_token as "flowToken", flow_id as "flowId", source_message_id as "sourceMessageId",
       template_id as "templateId"`,
    [
      rows.map((row) => row.id),
      rows.map((row) => row.workspaceId),
      rows.map((row) => row.messageId),
      rows.map((row) => row.senderId),
      rows.map((row) => row.sentBy),
      rows.map((row) => row.sentByUserId),
      rows.map((row) => row.name),
      rows.map((row) => row.flowToken),
      rows.map((row) => row.quotedWaMessageId),
      rows.map((row) => JSON.stringify(row.response)),
      rows.map((row) => row.receivedAt),
      now,
    ],
  )

export interface ResponseRow {
  id: string
  message_id: string
  sent_by: string | null
  sent_by_user_id: string | null
  flow_token: string | null
  flow_id: string | null
  source_message_id: string | null
  template_id: string | null
  response: Record<string, unknown>
  received_at: Date
  created_at: Date
}

const columns = `id, message_id, sent_by, sent_by_user_id, flow_token, flow_id, source_message_id, template_id, response,
  received_at, created_at`

const shown = `workspace_id = $1 and ($2::text is null or sent_by = $2) and ($3::text is null or flow_id = $3)
  and ($4::timestamptz is null or received_at > $4) and ($5::timestamptz is null or received_at < $5)`

const shownValues = (workspaceId: string, filters: FlowResponseFilters) => [
  workspaceId,
  filters.from ?? null,
  filters.flow_id ?? null,
  filters.received_after ?? null,
  filters.received_before ?? null,
]

export const responsesOf = (
  db: Db,
  workspaceId: string,
  filters: FlowResponseFilters,
  page: KeySet,
): Promise<ResponseRow[]> =>
  db.rows(`select ${columns} from flow_responses where ${shown} ${keySetClause(page, 6)}`, [
    ...shownValues(workspaceId, filters),
    ...keySetValues(page),
  ])

export async function countResponses(db: Db, workspaceId: string, filters: FlowResponseFilters): Promise<number> {
  const row = await db.first<{ total: number }>(
    `select count(*) as total from flow_responses where ${shown}`,
    shownValues(workspaceId, filters),
  )
  return row?.total ?? 0
}

export const responseById = (db: Db, workspaceId: string, id: string): Promise<ResponseRow | undefined> =>
  db.first(`select ${columns} from flow_responses where workspace_id = $1 and id = $2`, [workspaceId, id])
