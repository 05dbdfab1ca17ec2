/** Looks up the sender, the template and the earlier messages that a send request refers to, and reports unusable ones. */
import type { FieldError, FieldErrorCode } from '@parley/contract/field-errors'
import type { SendRequest, SendTemplate } from '@parley/contract/send'
import type { Db } from '../../../db/db.ts'
import { withoutPrefix, withPrefix } from '../../../lib/ids.ts'
import { isUserId } from '../../../whatsapp/incoming/user-id.ts'
import { checkVariables } from '../../../whatsapp/outgoing/check-variables.ts'
import { notSendableReason } from '../../../whatsapp/outgoing/sendable.ts'
import { hasOneTimeCode } from '../../../whatsapp/outgoing/variables.ts'
import type { Prices } from '../../credits/prices.ts'
import type { UsableSender } from '../../senders/senders.ts'
import { languagesOf, type SendableTemplate } from '../../templates/templates.ts'
import { messageIdsOf } from '../by-network-id.ts'
import { networkIdOf } from '../privacy/erased.ts'
import type { Recipient } from '../recipient.ts'
import { currentUser } from '../user-ids.sql.ts'
import type { LookUp } from './look-up.ts'
import { checkUploads } from './message-media.ts'
import { type ReferredMessage, referredById } from './send.sql.ts'

export interface References {
  sender: UsableSender | null
  recipient: Recipient | null
  template: SendableTemplate | null
  quotedWaMessageId: string | null
  reactedWaMessageId: string | null
  prices: Prices
  /** The uploaded files that the request names. */
  uploads: readonly string[]
  errors: FieldError[]
}

/**
 * Also reads as much as possible of an invalid request, so that all errors are reported together. `lookUp` reads what every
 * request needs, together with other requests; `db` the rest, limited to the workspace.
 */
export async function findReferences(
  db: Db,
  lookUp: LookUp,
  workspaceId: string,
  body: unknown,
  now: Date,
): Promise<References> {
  const request = (typeof body === 'object' && body !== null ? body : {}) as RequestFields
  const errors: FieldError[] = []
  /** The value that was found; otherwise collects the error. */
  const foundOrError = <T>(outcome: Outcome<T>): T | null => {
    if (outcome === null) return null
    if ('found' in outcome) return outcome.found
    errors.push(outcome.error)
    return null
  }
  const quotedMessage = await findMessage(db, workspaceId, request.sender_id, 'in_reply_to', request.in_reply_to)
  const senderId = request.sender_id ?? senderOf(quotedMessage)
  const requested = request.type === 'template' ? readTemplate(request.template) : null
  const wantedSender = isReadableSenderId(senderId) ? { id: senderId } : null
  const lookedUp = await lookUp({ workspaceId, sender: wantedSender, template: requested })
  const sender = wantedSender && foundOrError(checkFoundSender(wantedSender.id, lookedUp.senders))
  const quoted = foundOrError(checkSender(quotedMessage, sender, 'in_reply_to'))
  const recipient = foundOrError(await findRecipient(db, workspaceId, request, quoted))
  const connectionId = sender?.connectionId ?? null
  const template =
    requested &&
    foundOrError(
      chooseTemplate(lookedUp.templates, connectionId, requested) ??
        (await missingTemplate(db, workspaceId, connectionId, requested)),
    )
  if (requested && template) errors.push(...checkVariables(template, requested))
  if (template && recipient) errors.push(...numberErrors(template, recipient, request))
  const reaction = request.type === 'reaction' ? (request.reaction as SendRequest['reaction'] | null) : null
  const reactedParam = 'reaction.message_id'
  const reactedMessage = sender
    ? await findMessage(db, workspaceId, withPrefix('snd', sender.id), reactedParam, reaction?.message_id)
    : null
  const reacted = foundOrError(checkSender(reactedMessage, sender, reactedParam))
  const { uploads, errors: uploadErrors } = await checkUploads(db, workspaceId, request, now)
  errors.push(...uploadErrors)
  return {
    sender,
    recipient,
    template,
    quotedWaMessageId: quoted?.waMessageId ?? null,
    reactedWaMessageId: reacted?.waMessageId ?? null,
    prices: lookedUp.prices,
    uploads,
    errors,
  }
}

type RequestFields = Partial<Record<keyof SendRequest, unknown>>

/** Null if the request does not refer to anything, or is too malformed to look it up. */
type Outcome<T> = { found: T } | { error: FieldError } | null

const error = (param: string, code: FieldErrorCode, message: string) => ({ error: { param, code, message } })

const isReadableSenderId = (id: unknown): id is string | undefined =>
  id === undefined || (typeof id === 'string' && withoutPrefix('snd', id) !== undefined)

function checkFoundSender(id: string | undefined, [sender, another]: readonly UsableSender[]): Outcome<UsableSender> {
  if (!sender) {
    return id === undefined
      ? error('sender_id', 'missing', 'This workspace has no sender. Connect a WhatsApp account first.')
      : error('sender_id', 'not_found', 'Sender not found.')
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

/** WhatsApp accepts authentication templates only for phone numbers. */
function numberErrors(template: SendableTemplate, { number }: Recipient, request: RequestFields): FieldError[] {
  if (number !== null || !hasOneTimeCode(template)) return []
  const rule = 'WhatsApp sends authentication templates only to phone numbers.'
  return request.to_user_id === undefined
    ? [{ param: 'to', code: 'missing', message: `"to" is required: the phone number is not known. ${rule}` }]
    : [{ param: 'to_user_id', code: 'unexpected', message: `"to_user_id" is not allowed for this template. ${rule}` }]
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

/** The error of a template that was not found. It names the languages if only the language is wrong. */
async function missingTemplate(
  db: Db,
  workspaceId: string,
  connectionId: string | null,
  { id, name }: SendTemplate,
): Promise<Outcome<SendableTemplate>> {
  if (id !== undefined) return error('template.id', 'not_found', 'Template not found.')
  // PostgreSQL cannot store NUL, so no template has such a name.
  const rows = !name || name.includes('\0') ? [] : await languagesOf(db, workspaceId, name, connectionId)
  if (rows.length === 0) return error('template.name', 'not_found', 'Template not found.')
  const languages = rows.map(({ language }) => language).join(', ')
  return error('template.language', 'not_found', `The template has no such language. Its languages are: ${languages}.`)
}

/** Null if there is none. */
function chooseTemplate(
  candidates: readonly SendableTemplate[],
  connectionId: string | null,
  requested: SendTemplate,
): Outcome<SendableTemplate> {
  // A template belongs to a WhatsApp account, and a sender can only use those of its own account.
  const template = candidates.find((each) => each.connectionId === connectionId) ?? candidates[0]
  const param = requested.id === undefined ? 'template.name' : 'template.id'
  if (!template) return null
  if (connectionId !== null && template.connectionId !== connectionId) {
    return error(param, 'other_account', 'The template and the sender belong to different WhatsApp accounts.')
  }
  const reason = notSendableReason(template)
  if (reason !== null) return error('template', 'template_not_sendable', reason)
  if (template.status !== 'APPROVED') {
    return error(
      param,
      'not_approved',
      `The template has status ${template.status}. Only an APPROVED template can be sent.`,
    )
  }
  return { found: template }
}

/** A message of the sender that the request names; without one, of any sender of the workspace. */
async function findMessage(
  db: Db,
  workspaceId: string,
  senderId: unknown,
  param: string,
  id: unknown,
): Promise<Outcome<ReferredMessage>> {
  // PostgreSQL cannot store NUL, so no message has such an ID.
  if (typeof id !== 'string' || id === '' || id.includes('\0')) return null
  const senderUuid = typeof senderId === 'string' ? withoutPrefix('snd', senderId) : undefined
  const uuid = withoutPrefix('msg', id) ?? (await messageIdsOf(db, workspaceId, id, senderUuid))[0]
  const referred = uuid && (await referredById(db, workspaceId, uuid))
  const isKnown = referred && (referred.waMessageId === null || networkIdOf(referred.waMessageId) !== null)
  return isKnown ? { found: referred } : error(param, 'not_found', 'Message not found.')
}

/** A quote or a reaction only works from the number that sent or received the message. */
function senderOf(message: Outcome<ReferredMessage>): string | undefined {
  return message && 'found' in message ? withPrefix('snd', message.found.senderId) : undefined
}

function checkSender(
  message: Outcome<ReferredMessage>,
  sender: UsableSender | null,
  param: string,
): Outcome<ReferredMessage> {
  if (!message || 'error' in message || !sender) return message
  const { senderId, waMessageId } = message.found
  if (senderId !== sender.id) return error(param, 'other_sender', 'The message belongs to another sender.')
  if (waMessageId === null) return error(param, 'not_sent', 'The message has not been sent yet.')
  if (message.found.groupId !== null)
    return error(param, 'in_group', 'The message was written in a group. You can reply only to private messages.')
  return message
}

/** The person that the request names; in a reply without one, the person who wrote the quoted message. */
async function findRecipient(
  db: Db,
  workspaceId: string,
  { to, to_user_id: userId }: RequestFields,
  quoted: ReferredMessage | null,
): Promise<Outcome<Recipient>> {
  if (to !== undefined)
    return typeof to === 'string' ? { found: { number: to.replace(/^\+/, ''), userId: null } } : null
  if (userId !== undefined) {
    if (typeof userId !== 'string' || !isUserId(userId)) return null
    return { found: { number: null, userId: (await currentUser(db, workspaceId, userId)).userId } }
  }
  if (quoted === null) return null
  if (!quoted.received) {
    return error('to', 'missing', '"to" or "to_user_id" is required: the quoted message was sent by this workspace.')
  }
  const { number } = quoted
  const current = quoted.userId === null ? null : await currentUser(db, workspaceId, quoted.userId)
  const recipient = { number: current?.changedNumber ? current.number : number, userId: current?.userId ?? null }
  if (recipient.number !== null || recipient.userId !== null) return { found: recipient }
  return error('to', 'missing', '"to" or "to_user_id" is required: WhatsApp did not say who wrote the quoted message.')
}
