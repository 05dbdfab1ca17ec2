/** What a send request refers to: a sender, a template, an earlier message. Each that cannot be used is a fault. */
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
  faults: FieldError[]
}

/** Also of a request that has other faults, as far as it can be read: all of them are told at once. */
export async function findReferences(db: Db, workspaceId: string, body: unknown): Promise<References> {
  const request = (typeof body === 'object' && body !== null ? body : {}) as Partial<Record<keyof SendRequest, unknown>>
  const faults: FieldError[] = []
  const found = <T>(outcome: { found: T } | { fault: FieldError } | null): T | null => {
    if (outcome === null) return null
    if ('found' in outcome) return outcome.found
    faults.push(outcome.fault)
    return null
  }
  const sender = found(await findSender(db, workspaceId, request.sender_id))
  const wanted = request.type === 'template' ? readTemplate(request.template) : null
  const template = wanted && found(await findTemplate(db, workspaceId, sender?.connectionId ?? null, wanted))
  if (wanted && template) faults.push(...checkVariables(template, wanted))
  const refer = async (param: string, id: unknown) =>
    found(sender && typeof id === 'string' ? await findMessage(db, workspaceId, sender.id, param, id) : null)
  const quotedWaMessageId = await refer('in_reply_to', request.in_reply_to)
  const reaction = request.type === 'reaction' ? (request.reaction as SendRequest['reaction'] | null) : null
  const reactedWaMessageId = await refer('reaction.message_id', reaction?.message_id)
  return { sender, template, quotedWaMessageId, reactedWaMessageId, faults }
}

type Outcome<T> = { found: T } | { fault: FieldError } | null

const fault = (param: string, code: FieldErrorCode, message: string) => ({ fault: { param, code, message } })

async function findSender(db: Db, workspaceId: string, id: unknown): Promise<Outcome<UsableSender>> {
  if (id !== undefined && (typeof id !== 'string' || !withoutPrefix('snd', id))) return null
  const [sender, another] = await findSenderToUse(db, workspaceId, id)
  if (!sender) {
    return id === undefined
      ? fault('sender_id', 'missing', 'The workspace has no sender.')
      : fault('sender_id', 'unknown', 'The workspace has no such sender.')
  }
  if (another) return fault('sender_id', 'missing', '"sender_id" is required: this workspace has more than one sender.')
  if (sender.status !== 'CONNECTED') {
    return fault('sender_id', 'not_connected', `The sender is ${sender.status}; only a CONNECTED one can send.`)
  }
  return { found: sender }
}

/** The template as far as it is well formed enough to look for; what is wrong with it otherwise is told elsewhere. */
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
  wanted: SendTemplate,
): Promise<Outcome<SendableTemplate>> {
  const candidates = await findTemplateToSend(db, workspaceId, wanted)
  // A template belongs to an account of the network; a sender can use those of its own.
  const template = candidates.find((each) => each.connectionId === connectionId) ?? candidates[0]
  const param = wanted.id === undefined ? 'template.name' : 'template.id'
  if (!template) return fault(param, 'unknown', 'The workspace has no such template.')
  if (connectionId !== null && template.connectionId !== connectionId) {
    return fault(param, 'other_account', 'The template belongs to another account than the sender.')
  }
  if (template.status !== 'APPROVED') {
    return fault(param, 'not_approved', `The template is ${template.status}; only an APPROVED one can be sent.`)
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
  // What cannot be stored cannot have been stored.
  if (id.includes('\0')) return null
  const referred = uuid
    ? await referredById(db, workspaceId, uuid)
    : await referredByWaId(db, workspaceId, senderId, id)
  if (!referred) return fault(param, 'unknown', 'The workspace has no such message.')
  if (referred.senderId !== senderId) return fault(param, 'other_sender', 'That message is of another sender.')
  if (referred.waMessageId === null) return fault(param, 'not_sent', 'That message has not been sent yet.')
  return { found: referred.waMessageId }
}
