/** The messages with one person, with everything that a phone would show. */
import type { ConversationMessage } from '@parley/contract/console/contacts'
import { rawNumbersAsText } from '@parley/contract/exact-json'
import type { Db } from '../../../db/db.ts'
import type { KeySet } from '../../../lib/key-set.ts'
import { explainError } from '../../../whatsapp/graph/explain-error.ts'
import { formsOfMessages } from '../../flows/privacy.ts'
import { ordersByMessage } from '../../orders/orders.ts'
import type { MessageSearch } from './console-list.sql.ts'
import { isInbound, type ListedRow, searchMessages, toListed, withParts } from './console-list.ts'
import {
  changesOf,
  type MessageChange,
  messagesByNetworkId,
  receivedContents,
  type SentContent,
  sentContents,
} from './conversation.sql.ts'
import type { StoredContent } from './timeline.sql.ts'
import { toReceivedContent } from './timeline.ts'

/** A message in a list, as the console gets it, and its position in the list. */
export interface ConversationRow {
  at: Date
  id: string
  message: ConversationMessage
}

/** A page of the conversation with a person, who is named by numbers and user IDs. */
export async function listConversation(
  db: Db,
  workspaceId: string,
  { numbers, userIds }: { numbers: readonly string[]; userIds: readonly string[] },
  page: KeySet,
): Promise<ConversationRow[]> {
  const searches: MessageSearch[] = [...numbers.map((phone) => ({ phone })), ...userIds.map((userId) => ({ userId }))]
  const rows = await searchMessages(db, workspaceId, searches, page)
  const sentIds = rows.filter((row) => !isInbound(row)).map(({ id }) => id)
  const inboundIds = rows.filter(isInbound).map(({ id }) => id)
  const sent = new Map((await sentContents(db, workspaceId, sentIds)).map((each) => [each.id, each]))
  const received = new Map((await receivedContents(db, workspaceId, inboundIds)).map((each) => [each.id, each]))
  const ofType = (type: string) => inboundIds.filter((id) => rows.some((row) => row.id === id && row.type === type))
  const forms = await formsOfMessages(db, workspaceId, ofType('interactive'))
  const orders = await ordersByMessage(db, workspaceId, ofType('order'))
  const targetOf = (row: ListedRow) => targetIn(sent.get(row.id), received.get(row.id))
  const aboutOf = await findTargets(db, workspaceId, rows, targetOf)
  const ids = rows.map(({ id }) => id)
  const changes = Map.groupBy(await changesOf(db, workspaceId, ids), ({ id }) => id)
  return rows.map((row) => {
    const about = aboutOf(row)
    const form = forms.get(row.id)
    const content = sent.get(row.id)
    const inbound = received.get(row.id)
    return {
      at: row.at,
      id: row.id,
      message: {
        ...toListed(row),
        request: (content?.content.request ?? null) as ConversationMessage['request'],
        components: row.components,
        received: inbound
          ? toReceivedContent(inbound, {
              aboutId: about?.id ?? null,
              formId: form?.id ?? null,
              orderId: orders.get(row.id)?.id ?? null,
            })
          : null,
        explained: content?.error ? { ...content.error, ...explainError(content.error) } : null,
        ...latestOf(changes.get(row.id) ?? []),
        about,
        form: form
          ? {
              ...form,
              response: rawNumbersAsText(form.response) as NonNullable<ConversationMessage['form']>['response'],
            }
          : null,
      },
    }
  })
}

/** The last edit and the deletion of a message, as the person sees it. */
function latestOf(changes: readonly MessageChange[]): Pick<ConversationMessage, 'edit' | 'deletion'> {
  const edit = changes.findLast(({ isDeletion }) => !isDeletion)
  const deletion = changes.findLast(({ isDeletion }) => isDeletion)
  return {
    edit: edit ? { text: edit.text, at: edit.at.toISOString() } : null,
    deletion: deletion ? { at: deletion.at.toISOString() } : null,
  }
}

/** The network's ID of the message that a message reacts or replies to, or changes. */
function targetIn(sent: SentContent | undefined, received: StoredContent | undefined): string | null {
  if (sent) return sent.content.reactedWaMessageId ?? sent.quoted
  return received?.reaction?.wa_message_id ?? received?.changed ?? received?.quoted ?? null
}

async function findTargets(
  db: Db,
  workspaceId: string,
  rows: readonly ListedRow[],
  targetOf: (row: ListedRow) => string | null,
): Promise<(row: ListedRow) => ConversationMessage['about']> {
  const wanted = new Map<string, { senderId: string; waMessageId: string }>()
  for (const row of rows) {
    const waMessageId = targetOf(row)
    if (waMessageId !== null) wanted.set(keyOf(row.sender_id, waMessageId), { senderId: row.sender_id, waMessageId })
  }
  const named = wanted.size === 0 ? [] : await messagesByNetworkId(db, workspaceId, [...wanted.values()])
  const found = new Map(
    (await withParts(db, workspaceId, named)).map((row) => [keyOf(row.wanted_sender_id, row.wanted_id), toListed(row)]),
  )
  return (row) => found.get(keyOf(row.sender_id, targetOf(row) ?? '')) ?? null
}

const keyOf = (senderId: string, waMessageId: string): string => `${senderId} ${waMessageId}`
