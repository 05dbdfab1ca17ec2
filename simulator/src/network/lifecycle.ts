import type { Network } from '../network.ts'
import { switchesFor } from '../switches.ts'
import { notifyMessages } from '../webhooks/notify.ts'
import { type ReportedStatus, statusValue } from '../webhooks/status.ts'
import { conversationKey, type Lifecycle, type Message, type Phone, type PhoneNumber } from '../world.ts'

/**
 * The lifecycle of a message from a business.
 *
 *   accepted → sent → delivered → read (→ played, for a voice message)
 *            ↘ failed           immediately or after `sent`, depending on its outcome
 *
 * It stays `sent` while the phone is offline, and `delivered` until the chat is opened.
 */
export function startLifecycle(network: Network, message: Message): void {
  step(
    network,
    message,
    'accepted',
    (context) => context.switches.sentAfterMs,
    (context) => {
      const outcome = context.lifecycle.fate
      if (outcome.kind === 'fail' && !outcome.afterSent) return report(network, context, 'failed', outcome.code)
      context.lifecycle.free = context.lifecycle.category === 'service' && takeFreeService(network, context)
      report(network, context, 'sent')
      if (outcome.kind === 'fail') return report(network, context, 'failed', outcome.code)
      if (context.phone.online) deliver(network, message)
    },
  )
}

/** Resumes unfinished lifecycles after a restart. */
export function resumeLifecycles(network: Network): void {
  for (const message of network.world.messages.values()) {
    if (message.journey?.state === 'accepted') startLifecycle(network, message)
    if (message.journey?.state === 'sent') deliver(network, message)
    if (message.journey?.state === 'delivered') scheduleRead(network, message)
  }
}

/** Delivers pending messages when the phone is back online, except expired ones. */
export function deliverWaiting(network: Network, phone: Phone): void {
  for (const message of network.world.messages.values())
    if (message.waId === phone.waId && message.journey?.state === 'sent') deliver(network, message)
}

/** Marks all delivered messages of the chat as read and returns their IDs. */
export function openChat(network: Network, phone: Phone, number: PhoneNumber): string[] {
  const read: string[] = []
  for (const message of network.world.messages.values()) {
    if (message.waId !== phone.waId || message.numberId !== number.id) continue
    if (message.journey?.state === 'delivered' && markRead(network, message)) read.push(message.id)
  }
  return read
}

export function playVoice(network: Network, message: Message): void {
  const context = contextOf(network, message)
  if (context && context.lifecycle.state !== 'played') report(network, context, 'played')
}

const messageTtlMs = 30 * 86_400_000
const authenticationTtlMs = 10 * 60_000

function deliver(network: Network, message: Message): void {
  step(
    network,
    message,
    'sent',
    (context) => context.switches.deliveredAfterMs,
    (context) => {
      const { fate: outcome, category } = context.lifecycle
      if (!context.phone.online || outcome.kind === 'fail' || outcome.never === 'delivered') return
      const waitedMs = network.timers.now().getTime() - new Date(message.at).getTime()
      if (waitedMs > (category === 'authentication' ? authenticationTtlMs : messageTtlMs)) return
      const willBeRead = context.switches.readAfterMs !== null && context.phone.readReceipts && outcome.never !== 'read'
      if ((context.switches.skipDelivered || outcome.skipDelivered) && willBeRead) {
        context.lifecycle.state = 'delivered'
        network.changed()
      } else report(network, context, 'delivered')
      scheduleRead(network, message)
    },
  )
}

function scheduleRead(network: Network, message: Message): void {
  const context = contextOf(network, message)
  if (!context || context.switches.readAfterMs === null) return
  network.timers.after(context.switches.readAfterMs, () => markRead(network, message))
}

function markRead(network: Network, message: Message): boolean {
  const context = contextOf(network, message)
  if (context?.lifecycle.state !== 'delivered' || !context.phone.readReceipts) return false
  const outcome = context.lifecycle.fate
  if (outcome.kind === 'deliver' && outcome.never === 'read') return false
  report(network, context, 'read')
  return true
}

interface LifecycleContext {
  message: Message
  lifecycle: Lifecycle
  number: PhoneNumber
  phone: Phone
  switches: ReturnType<typeof switchesFor>
}

function contextOf(network: Network, message: Message): LifecycleContext | undefined {
  const number = network.world.numbers.get(message.numberId)
  const phone = network.world.phones.get(message.waId)
  if (!number || !phone || !message.journey) return undefined
  return { message, lifecycle: message.journey, number, phone, switches: switchesFor(network.world, number, phone) }
}

/** Runs the next step after a delay, if the message still exists and is still in the `from` state. */
function step(
  network: Network,
  message: Message,
  from: Lifecycle['state'],
  delay: (context: LifecycleContext) => number,
  run: (context: LifecycleContext) => void,
): void {
  const context = contextOf(network, message)
  if (!context) return
  network.timers.after(delay(context), () => {
    const later = contextOf(network, message)
    if (later?.lifecycle.state === from && network.world.messages.has(message.id)) run(later)
  })
}

/** Uses one of the free service messages of the number, of which there are `freeServiceMessages` in a calendar month. */
function takeFreeService({ world, timers }: Network, { number, switches }: LifecycleContext): boolean {
  const month = timers.now().toISOString().slice(0, 7)
  const before = world.freeService.get(number.id)
  const used = before?.month === month ? before.used : 0
  if (used >= switches.freeServiceMessages) return false
  world.freeService.set(number.id, { month, used: used + 1 })
  return true
}

function report(network: Network, context: LifecycleContext, status: ReportedStatus, code?: number): void {
  const { message, lifecycle, number, phone, switches } = context
  const at = network.timers.now()
  const isOnPhone = lifecycle.history.some((step) => step.status === 'delivered' || step.status === 'read')
  const priced = status === 'sent' || ((status === 'delivered' || status === 'read') && !isOnPhone)
  lifecycle.state = status
  lifecycle.history.push({ status, at: at.toISOString(), ...(code === undefined ? {} : { code }) })
  const update = { message, lifecycle, phone, status, at, priced, ...(code === undefined ? {} : { code }) }
  notifyMessages(network, number, phone, statusValue(update, switches))
  network.log.publish({
    name: 'status',
    data: { id: message.id, waId: message.waId, status, ...(code ? { code } : {}) },
  })
  network.changed()
}

const windowMs = 24 * 3_600_000

/** True if the phone has sent a message to the number within the last 24 hours. */
export function windowIsOpen(network: Network, numberId: string, waId: string): boolean {
  const last = network.world.lastInbound.get(conversationKey(numberId, waId))
  return last !== undefined && network.timers.now().getTime() - new Date(last).getTime() < windowMs
}
