import { acceptMessage, type Draft } from '../../network/accept.ts'
import { startLifecycle } from '../../network/lifecycle.ts'
import { type SimulatedFailure, testNumberOf } from '../../network/test-numbers.ts'
import { idle, type Network } from '../../network.ts'
import { switchesFor } from '../../switches.ts'
import type { Message, Phone, PhoneNumber } from '../../world.ts'
import { type Call, handled } from '../call.ts'

/** Accepts the message and sends the response. Magic numbers make one or both fail. */
export async function respondToSend(
  call: Call,
  number: PhoneNumber,
  phone: Phone,
  input: string,
  links: string[],
  draft: Draft,
): Promise<unknown> {
  const { network, reply } = call
  const testNumber = testNumberOf(phone.waId)
  const failure = testNumber?.kind === 'failure' ? testNumber.failure : undefined
  if (failure === 'cut_before_sending') return cut(call)
  if (failure === 'html_500') return sendHtml(call)
  const message = acceptMessage(network, number, phone, draft)
  const start = () =>
    void checkLinks(network, number, phone, links, message).then(() => startLifecycle(network, message))
  if (failure === 'cut_after_sending' || failure === 'hangs_after_sending' || failure === 'html_500_after_sending') {
    start()
    if (failure === 'cut_after_sending') return cut(call)
    return failure === 'hangs_after_sending' ? hang(call) : sendHtml(call)
  }
  if (failure === 'status_before_response') {
    start()
    await idle(network)
  } else reply.raw.once('close', start)
  await waitBeforeResponse(network, number, failure)
  return sendResponse(phone, input, draft, message, failure)
}

function sendResponse(
  phone: Phone,
  input: string,
  draft: Draft,
  message: Message,
  failure: SimulatedFailure | undefined,
) {
  const isHeld = draft.type === 'template' && (failure === 'held_then_sent' || failure === 'held_then_dropped')
  const status =
    draft.type === 'template' ? { message_status: isHeld ? 'held_for_quality_assessment' : 'accepted' } : {}
  return {
    messaging_product: 'whatsapp',
    contacts: [draft.toUserId ? { input, user_id: phone.userId } : { input, wa_id: phone.waId }],
    messages: [{ id: message.id, ...status }],
  }
}

/** Links are fetched after the response, so an unreachable one makes the message fail later. */
async function checkLinks(
  network: Network,
  number: PhoneNumber,
  phone: Phone,
  links: string[],
  message: Message,
): Promise<void> {
  if (links.length === 0 || !switchesFor(network.world, number, phone).fetchLinks) return
  const results = await Promise.all(links.map((link) => network.http.get(link, 5_000)))
  if (results.every((result) => result.kind === 'response' && result.status === 200)) return
  if (message.journey?.fate.kind === 'deliver') message.journey.fate = { kind: 'fail', code: 131053, afterSent: false }
}

export function waitBeforeResponse(network: Network, number: PhoneNumber, failure?: SimulatedFailure): Promise<void> {
  const waitMs = failure === 'slow_response' ? 5_000 : switchesFor(network.world, number).respondAfterMs
  if (waitMs === 0) return Promise.resolve()
  return new Promise((resolve) => void network.timers.after(waitMs, resolve))
}

function cut({ reply }: Call): typeof handled {
  reply.hijack()
  reply.raw.destroy()
  return handled
}

function hang({ reply }: Call): typeof handled {
  reply.hijack()
  return handled
}

function sendHtml({ reply }: Call): typeof handled {
  reply.hijack()
  reply.raw.writeHead(500, { 'content-type': 'text/html; charset=utf-8' })
  reply.raw.end(
    '<!DOCTYPE html><html><head><title>Error</title></head><body><h1>Sorry, something went wrong.</h1></body></html>',
  )
  return handled
}
