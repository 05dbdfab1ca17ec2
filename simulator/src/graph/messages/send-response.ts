import { acceptMessage, type Draft } from '../../network/accept.ts'
import { startLifecycle } from '../../network/lifecycle.ts'
import { type SimulatedFailure, testNumberOf } from '../../network/test-numbers.ts'
import { idle, type Network } from '../../network.ts'
import { switchesFor } from '../../switches.ts'
import type { Message, Phone, PhoneNumber } from '../../world.ts'
import { type Call, handled } from '../call.ts'

/** Takes the message and answers the call; a few recipients make one or the other go wrong. */
export async function answerSend(
  call: Call,
  number: PhoneNumber,
  phone: Phone,
  input: string,
  links: string[],
  draft: Draft,
): Promise<unknown> {
  const { network, reply } = call
  const magic = testNumberOf(phone.waId)
  const mishap = magic?.kind === 'mishap' ? magic.mishap : undefined
  if (mishap === 'cut_before_sending') return cut(call)
  if (mishap === 'html_500') return sendHtml(call)
  const message = acceptMessage(network, number, phone, draft)
  const start = () =>
    void checkLinks(network, number, phone, links, message).then(() => startLifecycle(network, message))
  if (mishap === 'cut_after_sending' || mishap === 'hangs_after_sending' || mishap === 'html_500_after_sending') {
    start()
    if (mishap === 'cut_after_sending') return cut(call)
    return mishap === 'hangs_after_sending' ? hang(call) : sendHtml(call)
  }
  if (mishap === 'status_before_answer') {
    start()
    await idle(network)
  } else reply.raw.once('close', start)
  await waitBeforeAnswer(network, number, mishap)
  return sendAnswer(phone, input, draft, message, mishap)
}

function sendAnswer(phone: Phone, input: string, draft: Draft, message: Message, mishap: SimulatedFailure | undefined) {
  const isHeld = draft.type === 'template' && (mishap === 'held_then_sent' || mishap === 'held_then_dropped')
  const status =
    draft.type === 'template' ? { message_status: isHeld ? 'held_for_quality_assessment' : 'accepted' } : {}
  return {
    messaging_product: 'whatsapp',
    contacts: [draft.toUserId ? { input, user_id: phone.userId } : { input, wa_id: phone.waId }],
    messages: [{ id: message.id, ...status }],
  }
}

/** A link that cannot be fetched is found out after the call was answered. */
async function checkLinks(
  network: Network,
  number: PhoneNumber,
  phone: Phone,
  links: string[],
  message: Message,
): Promise<void> {
  if (links.length === 0 || !switchesFor(network.world, number, phone).fetchLinks) return
  const responses = await Promise.all(links.map((link) => network.outlet.get(link, 5_000)))
  if (responses.every((response) => response.kind === 'answered' && response.status === 200)) return
  if (message.journey?.fate.kind === 'deliver') message.journey.fate = { kind: 'fail', code: 131053, afterSent: false }
}

function waitBeforeAnswer(network: Network, number: PhoneNumber, mishap: SimulatedFailure | undefined): Promise<void> {
  const waitMs = mishap === 'slow_answer' ? 5_000 : switchesFor(network.world, number).answerAfterMs
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
