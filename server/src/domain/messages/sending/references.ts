/** Looks up the sender, the template and the earlier messages that a send request refers to, and reports unusable ones. */
import type { FieldError, FieldErrorCode } from '@parley/contract/field-errors'
import type { SendRequest, SendTemplate } from '@parley/contract/send'
import type { Db } from '../../../db/db.ts'
import { withoutPrefix } from '../../../lib/ids.ts'
import { checkVariables } from '../../../whatsapp/check-variables.ts'
import { findSenderToUse, type UsableSender } from '../../senders/senders.ts'
import { findTemplateToSend, type SendableTemplate } from '../../templates/templates.ts'
import { referredById, referredByWaId } from './send.sql.ts'

export interface References {
  sender: UsableSender | null
  template: SendableTemplate | null
  quotedWaMessageId: string | null
  reactedWaMessageId: string | null
  errors: FieldError[]
}

/** Also reads as much as possible of an invalid request, so that all errors are reported together. */
export async function findReferences(db: Db, workspaceId: string, body: unknown): Promise<References> {
  const request = (typeof body === 'object' && body !== null ? body : {}) as Partial<Record<keyof SendRequest, unknown>>
  const errors: FieldError[] = []
  /** The value that was found; otherwise collects the error. */
  const foundOrError = <T>(outcome: Outcome<T>): T | null => {
    if (outcome === null) return null
    if ('found' in outcome) return outcome.found
    errors.push(outcome.error)
    return null
  }
  const sender = foundOrError(await findSender(db, workspaceId, request.sender_id))
  const requested = request.type === 'template' ? readTemplate(request.template) : null
  const template =
    requested && foundOrError(await findTemplate(db, workspaceId, sender?.connectionId ?? null, requested))
  if (requested && template) errors.push(...checkVariables(template, requested))
  const waIdOf = async (param: string, id: unknown) =>
    foundOrError(sender && typeof id === 'string' ? await findMessage(db, workspaceId, sender.id, param, id) : null)
  const quotedWaMessageId = await waIdOf('in_reply_to', request.in_reply_to)
  const reaction = request.type === 'reaction' ? (request.reaction as SendRequest['reaction'] | null) : null
  const reactedWaMessageId = await waIdOf('reaction.message_id', reaction?.message_id)
  return { sender, template, quotedWaMessageId, reactedWaMessageId, errors }
}

/** Null if the request does not refer to anything, or is too malformed to look it up. */
type Outcome<T> = { found: T } | { error: FieldError } | null

const error = (param: string, code: FieldErrorCode, message: string) => ({ error: { param, code, message } })

async function findSender(db: Db, workspaceId: string, id: unknown): Promise<Outcome<UsableSender>> {
  if (id !== undefined && (typeof id !== 'string' || !withoutPrefix('snd', id))) return null
  const [sender, another] = await findSenderToUse(db, workspaceId, id)
  if (!sender) {
    return id === undefined
      ? error('sender_id', 'missing', 'This workspace has no sender. Connect a WhatsApp account first.')
      : error('sender_id', 'unknown', 'Sender not found.')
  }
  if (another) return error('sender_id', 'missing', '"sender_id" is required: this workspace has more than one sender.')
  if (sender.status !== 'CONNECTED') {
    return error(
      'sender_id',
      'not_connected',
      `The sender has status ${sender.status}. Only a CONNECTED sender can send.`,
    )
  }
  return { found: sender }
}

/** The template if it is well formed enough to look it up. `checkSend` reports other errors in it. */
function readTemplate(value: unknown): SendTemplate | null {
  if (typeof value !== 'object' || value === null) return null
  const { id, name, language, variables } = value as Record<string, unknown>
  const byId = typeof id === 'string' && withoutPrefix('tpl', id) !== undefined
  const byName = typeof name === 'string' && typeof language === 'string'
  const readable = variables === undefined || (typeof variables === 'object' && variables !== null)
  return readable && byId !== byName ? (value as SendTemplate) : null
}

async function findTemplate(
  db: Db,
  workspaceId: string,
  connectionId: string | null,
  requested: SendTemplate,
): Promise<Outcome<SendableTemplate>> {
  const candidates = await findTemplateToSend(db, workspaceId, requested)
  // A template belongs to a WhatsApp account, and a sender can only use those of its own account.
  const template = candidates.find((each) => each.connectionId === connectionId) ?? candidates[0]
  const param = requested.id === undefined ? 'template.name' : 'template.id'
  if (!template) return error(param, 'unknown', 'Template not found.')
  if (connectionId !== null && template.connectionId !== connectionId) {
    return error(param, 'other_account', 'The template and the sender belong to different WhatsApp accounts.')
  }
  if (template.status !== 'APPROVED') {
    return error(
      param,
      'not_approved',
      `The template has status ${template.status}. Only an APPROVED template can be sent.`,
    )
  }
  return { found: template }
}

async function findMessage(
  db: Db,
  workspaceId: string,
  senderId: string,
  param: string,
  id: string,
): Promise<Outcome<string>> {
  const uuid = withoutPrefix('msg', id)
  if (uuid === undefined && param === 'in_reply_to') return null
  // PostgreSQL cannot store NUL, so no message has such an ID.
  if (id.includes('\0')) return null
  const referred = uuid
    ? await referredById(db, workspaceId, uuid)
    : await referredByWaId(db, workspaceId, senderId, id)
  if (!referred) return error(param, 'unknown', 'Message not found.')
  if (referred.senderId !== senderId) return error(param, 'other_sender', 'The message belongs to another sender.')
  if (referred.waMessageId === null) return error(param, 'not_sent', 'The message has not been sent yet.')
  if (referred.groupId !== null)
    return error(param, 'in_group', 'The message was written in a group. You can reply only to private messages.')
  return { found: referred.waMessageId }
}
