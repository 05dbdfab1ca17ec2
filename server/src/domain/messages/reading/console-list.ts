/** All messages of a workspace, sent and received, as people look for them. */
import type { ListedMessage, ListedMessageQuery } from '@parley/contract/console/messages'
import type { Db } from '../../../db/db.ts'
import { isUuid, withoutPrefix, withPrefix } from '../../../lib/ids.ts'
import type { KeySet } from '../../../lib/key-set.ts'
import { filledBody } from '../../../whatsapp/template-text.ts'
import { type LoggedRow, messagesWanted, previewLength, type Wanted } from './console-list.sql.ts'

export type { LoggedRow }

export async function listLog(
  db: Db,
  workspaceId: string,
  query: ListedMessageQuery,
  page: KeySet,
): Promise<LoggedRow[]> {
  const wanted: Wanted = {
    direction: query.direction,
    status: query.status,
    type: query.type,
    senderId: query.sender && withoutPrefix('snd', query.sender),
    templateId: query.template && withoutPrefix('tpl', query.template),
    phone: query.phone?.replace(/^\+/, ''),
    from: query.from === undefined ? undefined : new Date(query.from),
    to: query.to === undefined ? undefined : new Date(query.to),
  }
  const wishes = query.q === undefined ? [wanted] : searches(query.q).map((search) => ({ ...wanted, ...search }))
  return messagesWanted(db, workspaceId, wishes, page)
}

/** What somebody may mean by what they typed: an id, ours or the network's, a number, a reference. */
export function searches(typed: string): Wanted[] {
  const text = typed.trim()
  // What cannot be stored cannot be found.
  if (text === '' || text.includes('\0')) return []
  const uuid = withoutPrefix('msg', text.toLowerCase()) ?? (isUuid(text.toLowerCase()) ? text.toLowerCase() : undefined)
  if (uuid !== undefined) return [{ id: uuid }]
  if (text.startsWith('wamid.')) return [{ waMessageId: text }]
  const digits = text.replaceAll(/[\s().+-]/g, '')
  if (!/^[1-9]\d{4,19}$/.test(digits)) return [{ reference: text }]
  return [{ phone: digits }, { reference: text, notPhone: digits }]
}

export const placeOf = ({ at, id }: LoggedRow) => ({ at, id })

export function toListed({ components, variables, ...row }: LoggedRow): ListedMessage {
  const filled = components && filledBody(components, variables ?? {})
  return {
    ...row,
    preview: filled?.slice(0, previewLength) ?? row.preview,
    id: withPrefix('msg', row.id),
    at: row.at.toISOString(),
    sender_id: withPrefix('snd', row.sender_id),
    template_id: row.template_id && withPrefix('tpl', row.template_id),
  }
}
