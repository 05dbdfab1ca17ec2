import type { Network } from '../network.ts'
import { switchesFor } from '../switches.ts'
import { notifyMessages } from '../webhooks/notify.ts'
import { type ReportedStatus, statusValue } from '../webhooks/status.ts'
import { conversationKey, type Lifecycle, type Message, type Phone, type PhoneNumber } from '../world.ts'

/**
 * What becomes of a message a business sent.
 *
 *   accepted → sent → delivered → read (→ played, for a voice message)
 *            ↘ failed           at once, or after `sent`, as its fate says
 *
 * It waits at `sent` while the phone is offline, and at `delivered` until the phone opens the chat.
 */
export function startLifecycle(network: Network, message: Message): void {
  step(
    network,
    message,
    'accepted',
    (travel) => travel.switches.sentAfterMs,
    (travel) => {
      const { fate } = travel.journey
      if (fate.kind === 'fail' && !fate.afterSent) return report(network, travel, 'failed', fate.code)
      report(network, travel, 'sent')
      if (fate.kind === 'fail') return report(network, travel, 'failed', fate.code)
      if (travel.phone.online) deliver(network, message)
    },
  )
}

/** Takes up every unfinished journey again, after a restart. */
export function resumeLifecycles(network: Network): void {
  for (const message of network.world.messages.values()) {
    if (message.journey?.state === 'accepted') startLifecycle(network, message)
    if (message.journey?.state === 'sent') deliver(network, message)
    if (message.journey?.state === 'delivered') readByItself(network, message)
  }
}

/** The phone is back: whatever waited for it arrives, except what has waited for more than thirty days. */
export function deliverWaiting(network: Network, phone: Phone): void {
  for (const message of network.world.messages.values())
    if (message.waId === phone.waId && message.journey?.state === 'sent') deliver(network, message)
}

/** The person looks at the chat: everything delivered in it is read. Returns what was read just now. */
export function openChat(network: Network, phone: Phone, number: PhoneNumber): string[] {
  const read: string[] = []
  for (const message of network.world.messages.values()) {
    if (message.waId !== phone.waId || message.numberId !== number.id) continue
    if (message.journey?.state === 'delivered' && markRead(network, message)) read.push(message.id)
  }
  return read
}

export function playVoice(network: Network, message: Message): void {
  const travel = travelOf(network, message)
  if (travel && travel.journey.state !== 'played') report(network, travel, 'played')
}

const waitsForPhoneMs = 30 * 86_400_000
const authenticationWaitsMs = 10 * 60_000

function deliver(network: Network, message: Message): void {
  step(
    network,
    message,
    'sent',
    (travel) => travel.switches.deliveredAfterMs,
    (travel) => {
      const { fate, category } = travel.journey
      if (!travel.phone.online || fate.kind === 'fail' || fate.never === 'delivered') return
      const waitedMs = network.timers.now().getTime() - new Date(message.at).getTime()
      if (waitedMs > (category === 'authentication' ? authenticationWaitsMs : waitsForPhoneMs)) return
      const willBeRead = travel.switches.readAfterMs !== null && travel.phone.readReceipts && fate.never !== 'read'
      if ((travel.switches.skipDelivered || fate.skipDelivered) && willBeRead) {
        travel.journey.state = 'delivered'
        network.changed()
      } else report(network, travel, 'delivered')
      readByItself(network, message)
    },
  )
}

function readByItself(network: Network, message: Message): void {
  const travel = travelOf(network, message)
  if (!travel || travel.switches.readAfterMs === null) return
  network.timers.after(travel.switches.readAfterMs, () => markRead(network, message))
}

function markRead(network: Network, message: Message): boolean {
  const travel = travelOf(network, message)
  if (travel?.journey.state !== 'delivered' || !travel.phone.readReceipts) return false
  const { fate } = travel.journey
  if (fate.kind === 'deliver' && fate.never === 'read') return false
  report(network, travel, 'read')
  return true
}

interface Travel {
  message: Message
  journey: Lifecycle
  number: PhoneNumber
  phone: Phone
  switches: ReturnType<typeof switchesFor>
}

function travelOf(network: Network, message: Message): Travel | undefined {
  const number = network.world.numbers.get(message.numberId)
  const phone = network.world.phones.get(message.waId)
  if (!number || !phone || !message.journey) return undefined
  return { message, journey: message.journey, number, phone, switches: switchesFor(network.world, number, phone) }
}

/** Does the next step after a while, if the message is still where it was and the world still holds it. */
function step(
  network: Network,
  message: Message,
  from: Lifecycle['state'],
  delay: (travel: Travel) => number,
  run: (travel: Travel) => void,
): void {
  const travel = travelOf(network, message)
  if (!travel) return
  network.timers.after(delay(travel), () => {
    const later = travelOf(network, message)
    if (later?.journey.state === from && network.world.messages.has(message.id)) run(later)
  })
}

function report(network: Network, travel: Travel, status: ReportedStatus, code?: number): void {
  const { message, journey, number, phone, switches } = travel
  const at = network.timers.now()
  const onHandset = journey.history.some((step) => step.status === 'delivered' || step.status === 'read')
  const priced = status === 'sent' || ((status === 'delivered' || status === 'read') && !onHandset)
  journey.state = status
  journey.history.push({ status, at: at.toISOString(), ...(code === undefined ? {} : { code }) })
  const news = { message, journey, phone, status, at, priced, ...(code === undefined ? {} : { code }) }
  notifyMessages(network, number, phone, statusValue(news, switches))
  network.log.tell({ name: 'status', data: { id: message.id, waId: message.waId, status, ...(code ? { code } : {}) } })
  network.changed()
}

const windowMs = 24 * 3_600_000

/** True while the phone has written to the number within the last 24 hours. */
export function windowIsOpen(network: Network, numberId: string, waId: string): boolean {
  const last = network.world.lastInbound.get(conversationKey(numberId, waId))
  return last !== undefined && network.timers.now().getTime() - new Date(last).getTime() < windowMs
}
