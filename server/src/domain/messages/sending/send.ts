/**
 * Taking a message: every fault is named before anything is spent; then the message, its debit and, where there is an
 * Idempotency-Key, its answer are kept in one transaction. The outbox does the rest.
 */
import type { FieldError } from '@parley/contract/field-errors'
import type { Message } from '@parley/contract/message'
import type { SendRequest } from '@parley/contract/send'
import type { Db } from '../../../db/db.ts'
import { wakeHere } from '../../../db/wake.ts'
import type { Caller } from '../../../lib/access-check.ts'
import type { Clock } from '../../../lib/clock.ts'
import { newUuid, randomBase62, withoutPrefix } from '../../../lib/ids.ts'
import { refuse, refuseInvalid } from '../../../lib/refuse.ts'
import { checkSend } from '../../../whatsapp/check-send.ts'
import { templateFlow } from '../../../whatsapp/variables.ts'
import { debit } from '../../credits/credits.ts'
import { priceOf } from '../../credits/prices.ts'
import { saveFormToken } from '../../flows/save-submissions.ts'
import type { UsableSender } from '../../senders/senders.ts'
import { toMessage } from '../reading/messages.ts'
import {
  checkIdempotencyKey,
  findStoredResponse,
  type IdempotentRequest,
  isInProgress,
  newIdempotentRequest,
  saveResponse,
} from './idempotency.ts'
import { findReferences, type References } from './references.ts'
import { insertMessage, type NewMessage } from './send.sql.ts'

export interface SendDeps {
  /** Sees the caller's workspace and nothing else. */
  db: Db
  caller: Sender
  clock: Clock
  /** As the caller was told it; the request log has the request under it. */
  requestId?: string
}

/** A key, or a person in the console: then no key sent it, and no key sees it. */
export type Sender = Pick<Caller, 'workspaceId' | 'keyId'> | { workspaceId: string; keyId: null; person: string }

export interface Sent {
  message: Message
  /** It is the answer of an earlier request under the same Idempotency-Key. */
  replayed: boolean
}

/** A message that could not be handed over for so long is not worth sending any more. */
export const sendWithinMs = 24 * 3_600_000

export async function sendMessage(deps: SendDeps, body: unknown, idempotencyKey: string | undefined): Promise<Sent> {
  const { db, caller } = deps
  const faults = [...checkSend(body), ...checkIdempotencyKey(idempotencyKey)]
  const { workspaceId, keyId } = caller
  const once =
    faults.length === 0 && idempotencyKey !== undefined && keyId !== null
      ? newIdempotentRequest({ workspaceId, keyId }, idempotencyKey, body)
      : null
  const before = once && (await findStoredResponse(db, once))
  if (before) return { message: before, replayed: true }
  const message = await takeIt(deps, body, faults, once)
  if (message) return { message, replayed: false }
  const meanwhile = once && (await findStoredResponse(db, once))
  if (!meanwhile) throw new Error('an answer that was kept a moment ago is gone')
  return { message: meanwhile, replayed: true }
}

/** Undefined: another request under the same Idempotency-Key was first. */
async function takeIt(
  deps: SendDeps,
  body: unknown,
  faults: readonly FieldError[],
  once: IdempotentRequest | null,
): Promise<Message | undefined> {
  try {
    return await deps.db.transaction(async (tx) => {
      const references = await findReferences(tx, deps.caller.workspaceId, body)
      const { sender } = references
      const all = [...faults, ...references.faults]
      if (all.length > 0 || sender === null) refuseInvalid(all)
      // No faults: it is a request.
      return keep(tx, deps, body as SendRequest, { ...references, sender }, once)
    })
  } catch (error) {
    if (once && isInProgress(error)) refuse('idempotency_in_progress')
    throw error
  }
}

type Usable = References & { sender: UsableSender }

async function keep(
  tx: Db,
  deps: SendDeps,
  request: SendRequest,
  references: Usable,
  once: IdempotentRequest | null,
): Promise<Message | undefined> {
  const now = deps.clock.now()
  const credits = await priceOf(tx, request.type, references.template?.category ?? null)
  const message = toNewMessage(deps, now, request, references, credits)
  const response = toMessage(rowOf(message))
  if (once && !(await saveResponse(tx, once, response, now))) return undefined
  await insertMessage(tx, message)
  await rememberForm(tx, message, references)
  wakeHere(tx, 'send')
  tx.notify(message.workspaceId, 'messages')
  // Last, for here the workspace's other sends wait in line.
  await debit(tx, now, { workspaceId: message.workspaceId, messageId: message.id, credits })
  return response
}

function toNewMessage(
  { caller, requestId }: SendDeps,
  now: Date,
  request: SendRequest,
  { sender, template, quotedWaMessageId, reactedWaMessageId }: Usable,
  credits: number,
): NewMessage {
  const recipient = request.to.replace(/^\+/, '')
  const flowToken = tokenFor(request, template !== null && templateFlow(template) !== null)
  return {
    id: newUuid(now.getTime()),
    workspaceId: caller.workspaceId,
    keyId: caller.keyId,
    sentBy: 'person' in caller ? caller.person : null,
    requestId: (requestId !== undefined && withoutPrefix('req', requestId)) || null,
    senderId: sender.id,
    recipient,
    type: request.type,
    templateId: template?.id ?? null,
    reference: request.reference ?? null,
    credits,
    content: {
      request: withToken({ ...request, to: recipient }, flowToken),
      ...(flowToken !== null && { flowToken }),
      ...(quotedWaMessageId !== null && { quotedWaMessageId }),
      ...(reactedWaMessageId !== null && { reactedWaMessageId }),
    },
    createdAt: now,
    expiresAt: new Date(now.getTime() + sendWithinMs),
  }
}

/** The token of the form that a message carries: the caller's, or one of ours; null if it carries none. */
function tokenFor(request: SendRequest, templateHasForm: boolean): string | null {
  const made = () => `flow_${randomBase62(24)}`
  if (templateHasForm) return request.template?.flow?.token ?? made()
  const { interactive } = request
  return interactive?.type === 'flow' ? (interactive.action.parameters.flow_token ?? made()) : null
}

function withToken(request: SendRequest, token: string | null): SendRequest {
  if (token === null || !request.template) return request
  return { ...request, template: { ...request.template, flow: { ...request.template.flow, token } } }
}

/** A submission brings back nothing but the token; this says which message and which form it belongs to. */
async function rememberForm(db: Db, message: NewMessage, { template }: References): Promise<void> {
  const { flowToken, request } = message.content
  if (flowToken === undefined) return
  const { interactive } = request
  const inMessage = interactive?.type === 'flow' ? interactive.action.parameters.flow_id : undefined
  const flowId = inMessage ?? (template && templateFlow(template)?.flow_id) ?? null
  await saveFormToken(db, { ...message, messageId: message.id, token: flowToken, flowId })
}

const rowOf = (message: NewMessage): Parameters<typeof toMessage>[0] => ({
  id: message.id,
  sender_id: message.senderId,
  recipient: message.recipient,
  type: message.content.request.type,
  template_id: message.templateId,
  reference: message.reference,
  status: 'queued',
  wa_message_id: null,
  credits: message.credits,
  error: null,
  created_at: message.createdAt,
  sent_at: null,
  delivered_at: null,
  read_at: null,
  failed_at: null,
})
