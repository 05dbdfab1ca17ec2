/** All messages of a workspace, sent and received, as people look for them. */
import type { ListedMessage, ListedMessageQuery } from '@parley/contract/console/messages'
import type { Db } from '../../../db/db.ts'
import { isUuid, withoutPrefix, withPrefix } from '../../../lib/ids.ts'
import type { KeySet } from '../../../lib/key-set.ts'
import { filledBody } from '../../../whatsapp/template-text.ts'
import { senderIdsOf } from '../../senders/senders.ts'
import { findUsedTemplates } from '../../templates/templates.ts'
import { type LoggedRow, previewLength, selectMessages, type Wanted } from './console-list.sql.ts'

/** A message in a list, with the name of its template and what that is made of. */
export type ListedRow = LoggedRow & { template_name: string | null; components: unknown[] | null }

/** Messages of both directions that fit one of the wishes. */
export async function searchMessages(
  db: Db,
  workspaceId: string,
  inputs: readonly Wanted[],
  page: KeySet,
): Promise<ListedRow[]> {
  const isOfAnySender = ({ waMessageId, senderId }: Wanted) => waMessageId !== undefined && senderId === undefined
  const senderIds = inputs.some(isOfAnySender) ? await senderIdsOf(db, workspaceId) : []
  const placed = inputs.map((wanted) => (isOfAnySender(wanted) ? { ...wanted, senderIds } : wanted))
  const rows = await selectMessages(db, workspaceId, placed, page)
  const ids = rows.flatMap((row) => row.template_id ?? [])
  const templates = await findUsedTemplates(db, workspaceId, [...new Set(ids)])
  return rows.map((row) => {
    const { name = null, components = null } = templates.get(row.template_id ?? '') ?? {}
    return { ...row, template_name: name, components }
  })
}

export async function listConsoleMessages(
  db: Db,
  workspaceId: string,
  query: ListedMessageQuery,
  page: KeySet,
): Promise<ListedRow[]> {
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
  const inputs = query.q === undefined ? [wanted] : searches(query.q).map((search) => ({ ...wanted, ...search }))
  return searchMessages(db, workspaceId, inputs, page)
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

export const placeOf = ({ at, id }: ListedRow) => ({ at, id })

export function toListed({ components, variables, ...row }: ListedRow): ListedMessage {
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
