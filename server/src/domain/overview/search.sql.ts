import type { Db } from '../../db/db.ts'
import { isUserId } from '../../whatsapp/incoming/user-id.ts'

/** Search within a workspace by ID, phone number or name. Reads the tables of many domains and writes none. */

export interface FoundRow {
  kind: 'message' | 'inbound' | 'sender' | 'template' | 'webhook' | 'key' | 'form' | 'order' | 'event' | 'request'
  id: string
  title: string
  detail: string
}

type Kind = FoundRow['kind']

const selections: Record<Kind, string> = {
  message: `select 'message' as kind, id, 'To ' || case when recipient ~ '^[0-9]' then '+' || recipient when recipient = '' then 'an erased contact' else recipient end as title, type || ', ' || status as detail from messages`,
  inbound: `select 'inbound' as kind, id, case when source is null then 'From ' else 'To ' end || coalesce('+' || sent_by, profile_name, sent_by_user_id,
    'an unknown number') as title, type || case when source is null then ', received' else ', sent elsewhere' end as detail from inbound_messages`,
  sender: `select 'sender' as kind, id, coalesce(display_name, '+' || phone_number) as title,
    '+' || phone_number || ', ' || lower(status) as detail from senders`,
  template: `select 'template' as kind, id, name as title, language || ', ' || lower(status) as detail from templates`,
  webhook: `select 'webhook' as kind, id, name as title, url as detail from webhooks`,
  key: `select 'key' as kind, id, name as title, hint || case when revoked_at is null then '' else ', revoked' end as detail
    from api_keys`,
  form: `select 'form' as kind, id, 'Form from ' || coalesce('+' || sent_by, sent_by_user_id, 'an unknown number') as title,
    coalesce(flow_id, name, 'form') as detail from flow_responses`,
  order: `select 'order' as kind, id, 'Order from ' || coalesce('+' || sent_by, sent_by_user_id, 'an unknown number') as title, status as detail
    from orders`,
  event: `select 'event' as kind, id, type as title, 'event' as detail from events`,
  request: `select 'request' as kind, id, method || ' ' || route as title,
    status || coalesce(', ' || code, '') as detail from request_log`,
}

const notDeleted: Partial<Record<Kind, string>> = {
  webhook: 'and deleted_at is null',
  template: 'and removed_at is null',
}

export const foundById = (db: Db, workspaceId: string, kind: Kind, id: string): Promise<FoundRow | undefined> =>
  db.first(`${selections[kind]} where workspace_id = $1 and id = $2 ${notDeleted[kind] ?? ''}`, [workspaceId, id])

/** Rows with a name that contains the text, case-insensitive. */
export const foundByName = (
  db: Db,
  workspaceId: string,
  kind: 'sender' | 'template' | 'webhook' | 'key',
  text: string,
  take: number,
): Promise<FoundRow[]> =>
  db.rows(
    `${selections[kind]} where workspace_id = $1 ${notDeleted[kind] ?? ''}
       and strpos(lower(${kind === 'sender' ? `coalesce(display_name, '') || ' ' || phone_number` : 'name'}), $2) > 0
     order by created_at desc, id desc limit $3`,
    [workspaceId, text.toLowerCase(), take],
  )

/** The latest messages to or from a phone number, or the user ID of a person without a number. */
export const foundByPerson = (
  db: Db,
  workspaceId: string,
  kind: 'message' | 'inbound',
  person: string,
  take: number,
): Promise<FoundRow[]> =>
  kind === 'message'
    ? db.rows(
        `${selections.message} where workspace_id = $1 and recipient = $2 order by created_at desc, id desc limit $3`,
        [workspaceId, person, take],
      )
    : db.rows(
        `${selections.inbound} where workspace_id = $1 and ${isUserId(person) ? 'sent_by is null and sent_by_user_id' : 'sent_by'} = $2
         order by recorded_at desc, id desc limit $3`,
        [workspaceId, person, take],
      )

export const foundByReference = (db: Db, workspaceId: string, reference: string, take: number): Promise<FoundRow[]> =>
  db.rows(
    `${selections.message} where workspace_id = $1 and reference = $2 order by created_at desc, id desc limit $3`,
    [workspaceId, reference, take],
  )
