import { newWamid } from '../ids.ts'
import type { Json } from '../json.ts'
import type { Network } from '../network.ts'
import { businessAction } from '../phones/action.ts'
import { senderOf } from '../phones/identity.ts'
import { requireQueueSpace, timestampOf } from '../phones/inbound.ts'
import { phoneFor } from '../phones/phones.ts'
import { bool, date, json, list, number, object, oneOf, optional, type Parsed, phoneDigits, text } from '../shape.ts'
import { switchesFor } from '../switches.ts'
import { notifyNumber, withMetadata } from '../webhooks/notify.ts'
import type { Phone, PhoneNumber } from '../world.ts'
import { requireBusinessApp } from './echo.ts'

const pastMessage = object({
  from: optional(oneOf('person', 'business')),
  /** Without text and content it is a file, which arrives as `media_placeholder`. */
  text: optional(text()),
  type: optional(text({ max: 60 })),
  content: optional(json),
  at: optional(date),
  status: optional(text({ max: 20 })),
})

type PastMessage = Parsed<typeof pastMessage>

/** Shares the chats and the contacts of the WhatsApp Business app with the apps of the account. */
export const sharingActions = {
  /** One chunk. Without `threads`, a sample of three messages with the first phone. */
  history: businessAction(
    object({
      threads: optional(list(object({ phone: phoneDigits, messages: list(pastMessage) }), 100)),
      phase: optional(number({ min: 0, max: 2, integer: true })),
      chunkOrder: optional(number({ min: 1, integer: true })),
      progress: optional(number({ min: 0, max: 100, integer: true })),
      /** The business does not share its chats. */
      declined: optional(bool),
    }),
    (network, business, input) => {
      requireBusinessApp(business)
      requireQueueSpace(network, business)
      const metadata = { phase: input.phase ?? 0, chunk_order: input.chunkOrder ?? 1, progress: input.progress ?? 100 }
      const threads = () =>
        (input.threads ?? sampleThreads(network)).map((thread) => threadOf(network, business, thread))
      const history = input.declined ? { errors: [declinedError] } : { metadata, threads: threads() }
      notifyNumber(network, business, null, 'history', withMetadata(business, { history: [history] }))
      return {}
    },
  ),

  /** The contacts of the address book: those of the given phones, else of all. */
  contacts: businessAction(
    object({ phones: optional(list(phoneDigits)), action: optional(oneOf('add', 'remove')) }),
    (network, business, { phones, action = 'add' }) => {
      requireBusinessApp(business)
      requireQueueSpace(network, business)
      const people = phones?.map((digits) => phoneFor(network, digits)) ?? [...network.world.phones.values()]
      const metadata = { timestamp: timestampOf(network.timers.now()) }
      const contacts = people.map((phone) => ({
        type: 'contact',
        contact: contactOf(network, business, phone, action === 'add'),
        action,
        metadata,
      }))
      notifyNumber(network, business, null, 'smb_app_state_sync', withMetadata(business, { state_sync: contacts }))
      return {}
    },
  ),
}

const declinedError = {
  code: 2593109,
  title: 'History sync is turned off by the business from the WhatsApp Business App',
  message: 'History sync is turned off by the business from the WhatsApp Business App',
  error_data: { details: 'History sync is turned off by the business from the WhatsApp Business App' },
}

function sampleThreads({ world }: Network): { phone: string; messages: PastMessage[] }[] {
  const [phone] = world.phones.keys()
  if (phone === undefined) return []
  return [
    {
      phone,
      messages: [
        { text: 'Do you have time on Friday?' },
        { from: 'business', text: 'Yes, at ten.' },
        { from: 'person' },
      ],
    },
  ]
}

const dayMs = 86_400_000

/** Messages without a time are from yesterday, a minute apart. */
function threadOf(
  network: Network,
  business: PhoneNumber,
  { phone: digits, messages }: { phone: string; messages: PastMessage[] },
): Json {
  const phone = phoneFor(network, digits)
  const sender = senderOf(phone, switchesFor(network.world, business, phone).senderIdentity)
  const yesterday = network.timers.now().getTime() - dayMs
  return {
    id: sender.from || phone.userId,
    messages: messages.map(({ from, text: body, type, content, at, status = 'READ' }, index) => ({
      ...(from === 'business' ? { from: business.phoneNumber, to: sender.from || phone.userId } : sender),
      id: newWamid(phone.waId),
      timestamp: timestampOf(at === undefined ? new Date(yesterday + index * 60_000) : new Date(at)),
      ...(body === undefined ? contentOf(type, content) : { type: 'text', text: { body } }),
      history_context: { status },
    })),
  }
}

function contentOf(type = 'media_placeholder', content: unknown): Json {
  return { type, ...(content === undefined ? {} : { [type]: content }) }
}

/** A contact that is removed has no name. */
function contactOf(network: Network, business: PhoneNumber, phone: Phone, hasName: boolean): Json {
  const seesNumber = switchesFor(network.world, business, phone).senderIdentity === 'phone'
  return {
    ...(hasName ? { full_name: phone.name, first_name: phone.name.split(' ')[0] } : {}),
    ...(seesNumber ? { phone_number: phone.waId } : {}),
    user_id: phone.userId,
    ...(phone.username ? { username: phone.username } : {}),
    country_code: phone.userId.slice(0, 2),
  }
}
