import type { Db } from '../../db/db.ts'
import { pagedStatement, statement } from '../../db/statement.ts'

export interface FormToken {
  messageId: string
  workspaceId: string
  senderId: string
  recipient: string
  token: string
  templateId: string | null
  flowId: string | null
  createdAt: Date
}

export const saveFormTokens = statement(
  {
    forms: {
      messageId: 'uuid',
      workspaceId: 'uuid',
      senderId: 'uuid',
      recipient: 'text',
      token: 'text',
      templateId: 'uuid',
      flowId: 'text',
      createdAt: 'timestamptz',
    },
  },
  ({ forms }) => `insert into flow_tokens (${forms.columns}) select * from ${forms}`,
).change

/** The origin of a submission, as far as it could be found. */
export interface SubmissionSource {
  id: string
  flowToken: string | null
  flowId: string | null
  sourceMessageId: string | null
  templateId: string | null
}

/**
 * Stores submissions, each with the message that its form was sent in: the quoted message; or the latest message to the
 * same person with this token; or the only message with this token, since the network may write a person's number
 * differently.
 */
export const insertResponses = statement(
  {
    submitted: {
      id: 'uuid',
      workspaceId: 'uuid',
      messageId: 'uuid',
      senderId: 'uuid',
      sentBy: 'text',
      sentByUserId: 'text',
      name: 'text',
      flowToken: 'text',
      quotedMessageId: 'uuid',
      quotedTemplateId: 'uuid',
      response: 'json',
      receivedAt: 'timestamptz',
    },
    now: 'timestamptz',
  },
  ({
    submitted,
    now,
  }) => `insert into flow_responses (id, workspace_id, message_id, sender_id, sent_by, sent_by_user_id,
       name, flow_token, flow_id, source_message_id, template_id, response, received_at, created_at)
     select n.id, n.workspace_id, n.message_id, n.sender_id, n.sent_by, n.sent_by_user_id, n.name,
       coalesce(n.flow_token, s.token), s.flow_id, s.message_id, s.template_id, n.response, n.received_at, ${now}
     from (select * from ${submitted}) as n
     left join lateral (
       select * from (
         select 1 as rank, n.quoted_message_id as message_id, n.quoted_template_id as template_id, t.flow_id, t.token
         from (select 1) as quoted left join flow_tokens t on t.message_id = n.quoted_message_id
         where n.quoted_message_id is not null
         union all
         (select 2, t.message_id, t.template_id, t.flow_id, t.token from flow_tokens t
          where t.workspace_id = n.workspace_id and t.token = n.flow_token
            and t.recipient in (n.sent_by, n.sent_by_user_id)
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
).rows<SubmissionSource>

export interface ResponseRow {
  id: string
  message_id: string
  sent_by: string | null
  sent_by_user_id: string | null
  flow_token: string | null
  flow_id: string | null
  source_message_id: string | null
  template_id: string | null
  /** JSON as text, because the driver would round large numbers. */
  response: string
  received_at: Date
  created_at: Date
  content_removed_at: Date | null
}

const columns = `id, message_id, sent_by, sent_by_user_id, flow_token, flow_id, source_message_id, template_id,
  response::text as response, received_at, created_at, content_removed_at`

export const responseList = pagedStatement(
  {
    workspaceId: 'uuid',
    from: 'text',
    flowId: 'text',
    receivedAfter: 'timestamptz',
    receivedBefore: 'timestamptz',
  },
  ({ workspaceId, from, flowId, receivedAfter, receivedBefore }) => `select ${columns} from flow_responses
     where workspace_id = ${workspaceId} and (${from} is null or sent_by = ${from})
       and (${flowId} is null or flow_id = ${flowId})
       and (${receivedAfter} is null or received_at > ${receivedAfter})
       and (${receivedBefore} is null or received_at < ${receivedBefore})`,
)

export const responseById = (db: Db, workspaceId: string, id: string): Promise<ResponseRow | undefined> =>
  db.first(`select ${columns} from flow_responses where workspace_id = $1 and id = $2`, [workspaceId, id])

/** The submissions that arrived as these messages. */
export const responsesOfMessages = (db: Db, workspaceId: string, messageIds: readonly string[]) =>
  db.rows<ResponseRow>(
    `select ${columns} from flow_responses where workspace_id = $1 and message_id = any($2::uuid[])`,
    [workspaceId, messageIds],
  )

/** Removes the answers of the submissions that arrived as these messages. Returns the submissions that had answers. */
export const removeResponses = (db: Db, messageIds: readonly string[], now: Date): Promise<{ id: string }[]> =>
  db.rows(
    `update flow_responses set response = '{}', content_removed_at = $2
     where message_id = any($1::uuid[]) and content_removed_at is null returning id`,
    [messageIds, now],
  )

/** Also removes the person who submitted them, and the token, which may identify the person. */
export const eraseResponses = (db: Db, workspaceId: string, messageIds: readonly string[], now: Date) =>
  db.rows<{ id: string }>(
    `update flow_responses set response = '{}', content_removed_at = coalesce(content_removed_at, $3), sent_by = null,
       sent_by_user_id = null, flow_token = null
     where workspace_id = $1 and message_id = any($2::uuid[]) returning id`,
    [workspaceId, messageIds, now],
  )

/** The tokens of the forms in these sent messages, with their recipients. */
export const deleteTokens = (db: Db, workspaceId: string, messageIds: readonly string[]): Promise<number> =>
  db.change('delete from flow_tokens where workspace_id = $1 and message_id = any($2::uuid[])', [
    workspaceId,
    messageIds,
  ])
