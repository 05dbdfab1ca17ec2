/**
 * Accepts a message to send. All errors are reported before any credits are spent. Then the message, its debit and, with an
 * Idempotency-Key, the response are stored by one statement, which concurrent requests share (`acceptance.ts`). The outbox
 * sends the message afterwards.
 */
import type { FieldError } from '@parley/contract/field-errors'
import type { Message } from '@parley/contract/message'
import type { SendRequest } from '@parley/contract/send'
import type { Db } from '../../../db/db.ts'
import type { Caller } from '../../../http/access-check.ts'
import type { Clock } from '../../../lib/clock.ts'
import { newUuid, randomBase62, withoutPrefix } from '../../../lib/ids.ts'
import { refuseInvalid } from '../../../lib/refuse.ts'
import { checkSend } from '../../../whatsapp/outgoing/check-send.ts'
import { templateFlow } from '../../../whatsapp/outgoing/variables.ts'
import { priceOf } from '../../credits/prices.ts'
import type { FormToken } from '../../flows/save-submissions.ts'
import { requireMarketingAllowed } from '../../senders/preferences.ts'
import type { UsableSender } from '../../senders/senders.ts'
import { toMessage } from '../reading/messages.ts'
import type { Recipient } from '../recipient.ts'
import { earlierUserIds } from '../user-ids.sql.ts'
import type { Acceptance } from './acceptance.ts'
import {
  checkIdempotencyKey,
  type IdempotentRequest,
  newIdempotentRequest,
  notStoredYet,
  replay,
} from './idempotency.ts'
import { findReferences, type References } from './references.ts'
import type { NewMessage } from './send.sql.ts'
import type { AcceptedMessage } from './store-messages.ts'

export interface SendDeps {
  /** Limited to the caller's workspace. */
  db: Db
  acceptance: Acceptance
  caller: SendCaller
  clock: Clock
  /** The request ID in the response and in the request log. */
  requestId?: string
  /** The trace that the request belongs to, if its client sent one. */
  traceparent?: string | null
}

/** An API key, or a person in the console. Messages of a person have no API key, so no API key can read them. */
export type SendCaller =
  | Pick<Caller, 'workspaceId' | 'keyId' | 'systemId'>
  | { workspaceId: string; keyId: null; person: string }

export interface SendResult {
  message: Message
  /** Whether this is the stored response of an earlier request with the same Idempotency-Key. */
  replayed: boolean
}

/** A message that WhatsApp has not accepted within this time fails. */
const sendWithinMs = 24 * 3_600_000

/** Each further try means that another request of the workspace was stored or refused. */
export const maxTries = 100

export async function sendMessage(
  deps: SendDeps,
  body: unknown,
  idempotencyKey: string | undefined,
): Promise<SendResult> {
  const { acceptance, caller } = deps
  const fieldErrors = [...checkSend(body), ...checkIdempotencyKey(idempotencyKey)]
  const idempotent =
    fieldErrors.length === 0 && idempotencyKey !== undefined && caller.keyId !== null
      ? newIdempotentRequest(caller, idempotencyKey, body)
      : null
  for (let tries = 0; tries < maxTries; tries++) {
    const checked = await checkMessage(deps, body, fieldErrors, idempotent)
    if (checked.kind === 'replayed') return { message: checked.message, replayed: true }
    const { accepted } = checked
    const outcome = await acceptance.store(accepted)
    if (outcome.kind === 'refused') {
      // The request that was first may have the same key, and may have used the last credits.
      const first = idempotent && (await acceptance.findStored(idempotent))
      if (idempotent && first) return { message: replay(idempotent, first), replayed: true }
      throw outcome.refusal
    }
    if (outcome.kind === 'stored') return { message: accepted.response, replayed: false }
  }
  throw notStoredYet(idempotent)
}

export type CheckedMessage = { kind: 'replayed'; message: Message } | { kind: 'new'; accepted: AcceptedMessage }

/** Checks everything but the balance. Rejects a message with its errors and the given ones. */
export async function checkMessage(
  deps: SendDeps,
  body: unknown,
  errors: readonly FieldError[],
  idempotent: IdempotentRequest | null,
): Promise<CheckedMessage> {
  const { db, acceptance, caller, clock } = deps
  // Both at once: nearly every request is new.
  const [stored, references] = await Promise.all([
    idempotent && acceptance.findStored(idempotent),
    findReferences(db, acceptance.lookUp, caller.workspaceId, body, clock.now()),
  ])
  if (idempotent && stored) return { kind: 'replayed', message: replay(idempotent, stored) }
  const accepted = await toAccepted(deps, body, [...errors, ...references.errors], references, idempotent)
  return { kind: 'new', accepted }
}

/** Refuses a request with errors. */
async function toAccepted(
  deps: SendDeps,
  body: unknown,
  errors: FieldError[],
  references: References,
  idempotent: IdempotentRequest | null,
): Promise<AcceptedMessage> {
  const { sender, recipient, template, prices } = references
  if (errors.length > 0 || sender === null || recipient === null) refuseInvalid(errors)
  // Without errors, the body is a valid request.
  const request = body as SendRequest
  const valid = { ...references, sender, recipient }
  if (template?.category === 'MARKETING') {
    const { workspaceId } = deps.caller
    const personIds = await idsOf(deps.db, workspaceId, valid)
    requireMarketingAllowed(await deps.acceptance.findChoice({ workspaceId, senderId: sender.id, personIds }))
  }
  const credits = priceOf(prices, request.type, template?.category ?? null)
  const message = toNewMessage(deps, deps.clock.now(), request, valid, credits)
  return { message, sender, response: toMessage(queuedRow(message)), idempotent, form: formOf(message, valid) }
}

type ValidReferences = References & { sender: UsableSender; recipient: Recipient }

/** A contact's number and user IDs, including replaced ones: an opt-out may name an earlier ID. */
async function idsOf(db: Db, workspaceId: string, { recipient: { number, userId } }: ValidReferences) {
  const earlier = userId === null ? [] : await earlierUserIds(db, workspaceId, userId)
  return [number, userId, ...earlier].filter((id) => id !== null)
}

function toNewMessage(
  { caller, requestId, traceparent = null }: SendDeps,
  now: Date,
  request: SendRequest,
  { sender, recipient, template, quotedWaMessageId, reactedWaMessageId, uploads }: ValidReferences,
  credits: number,
): NewMessage {
  const flowToken = tokenFor(request, template !== null && templateFlow(template) !== null)
  return {
    id: newUuid(now.getTime()),
    workspaceId: caller.workspaceId,
    keyId: caller.keyId,
    sentBy: 'person' in caller ? caller.person : null,
    requestId: (requestId !== undefined && withoutPrefix('req', requestId)) || null,
    senderId: sender.id,
    recipient: recipient.number ?? recipient.userId ?? '',
    recipientUserId: recipient.userId,
    type: request.type,
    templateId: template?.id ?? null,
    reference: request.reference ?? null,
    credits,
    content: {
      request: withToken(addressed(request, recipient), flowToken),
      ...(flowToken !== null && { flowToken }),
      ...(quotedWaMessageId !== null && { quotedWaMessageId }),
      ...(reactedWaMessageId !== null && { reactedWaMessageId }),
      ...(uploads.length > 0 && { uploads }),
    },
    createdAt: now,
    expiresAt: new Date(now.getTime() + sendWithinMs),
    traceparent,
  }
}

/** The request with its recipient: a reply may not name one, and a user ID may have changed. */
function addressed({ to: _, to_user_id: __, ...request }: SendRequest, { number, userId }: Recipient): SendRequest {
  if (number !== null) return { ...request, to: number }
  return userId === null ? request : { ...request, to_user_id: userId }
}

/** The token of the message's form: the caller's or a generated one. Null if the message has no form. */
function tokenFor(request: SendRequest, templateHasForm: boolean): string | null {
  const generate = () => `flow_${randomBase62(24)}`
  if (templateHasForm) return request.template?.flow?.token ?? generate()
  const { interactive } = request
  return interactive?.type === 'flow' ? (interactive.action.parameters.flow_token ?? generate()) : null
}

function withToken(request: SendRequest, token: string | null): SendRequest {
  if (token === null || !request.template) return request
  return { ...request, template: { ...request.template, flow: { ...request.template.flow, token } } }
}

/** A form submission contains only the token. This maps the token to its message and form. Null without a form. */
function formOf(message: NewMessage, { template }: References): FormToken | null {
  const { flowToken, request } = message.content
  if (flowToken === undefined) return null
  const { interactive } = request
  const inMessage = interactive?.type === 'flow' ? interactive.action.parameters.flow_id : undefined
  const flowId = inMessage ?? (template && templateFlow(template)?.flow_id) ?? null
  return { ...message, messageId: message.id, token: flowToken, flowId }
}

const queuedRow = (message: NewMessage): Parameters<typeof toMessage>[0] => ({
  id: message.id,
  sender_id: message.senderId,
  recipient: message.recipient,
  recipient_user_id: message.recipientUserId,
  type: message.content.request.type,
  template_id: message.templateId,
  reference: message.reference,
  status: 'queued',
  wa_message_id: null,
  credits: message.credits,
  error: null,
  pricing: null,
  created_at: message.createdAt,
  sent_at: null,
  delivered_at: null,
  read_at: null,
  failed_at: null,
})
