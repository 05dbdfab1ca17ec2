import type { Json } from '../json.ts'
import type { Network } from '../network.ts'
import { jsonObject, list, number, object, optional, text } from '../shape.ts'
import type { Phone, PhoneNumber } from '../world.ts'
import { type ActionResult, action, type MessageContext, messageContext } from './action.ts'
import { mediaMembers, mediaMessage, type PhoneMedia } from './files.ts'
import { numberFor } from './find.ts'
import { type Inbound, receiveMessage } from './inbound.ts'

/** Actions that send a new message. */
export const writeActions = {
  say: action(object({ ...messageContext, text: text({ max: 65_536 }) }), (network, phone, input) =>
    write(network, phone, input, { type: 'text', content: { body: input.text } }),
  ),
  image: mediaAction('image'),
  video: mediaAction('video'),
  audio: mediaAction('audio'),
  voice: mediaAction('voice'),
  document: mediaAction('document'),
  sticker: mediaAction('sticker'),
  location: action(
    object({
      ...messageContext,
      latitude: number({ min: -90, max: 90 }),
      longitude: number({ min: -180, max: 180 }),
      name: optional(text()),
      address: optional(text()),
      url: optional(text()),
    }),
    (network, phone, input) => {
      const { latitude, longitude, name, address, url } = input
      const place = { ...(name ? { name } : {}), ...(address ? { address } : {}), ...(url ? { url } : {}) }
      return write(network, phone, input, { type: 'location', content: { latitude, longitude, ...place } })
    },
  ),
  contacts: action(object({ ...messageContext, contacts: list(jsonObject, 257) }), (network, phone, input) =>
    write(network, phone, input, {
      type: 'contacts',
      content: input.contacts.map((contact) => ({ origin: 'other', ...contact })),
    }),
  ),
  order: action(
    object({
      ...messageContext,
      catalogId: optional(text({ max: 40 })),
      text: optional(text({ min: 0, max: 1024 })),
      items: list(
        object({
          retailerId: text({ max: 200 }),
          quantity: optional(number({ min: 1, max: 999, integer: true })),
          price: optional(number({ min: 0 })),
          currency: optional(text({ max: 3 })),
        }),
        100,
      ),
    }),
    (network, phone, input) => {
      const business = numberFor(network, phone, input.to)
      const catalogs = [...network.world.catalogs.values()].filter((catalog) => catalog.wabaId === business.wabaId)
      const catalog = catalogs.find((one) => one.id === input.catalogId) ?? catalogs[0]
      const items = input.items.map((item) => {
        const product = catalog?.products.find((one) => one.retailerId === item.retailerId)
        return {
          product_retailer_id: item.retailerId,
          quantity: item.quantity ?? 1,
          item_price: item.price ?? product?.price ?? 0,
          currency: item.currency ?? product?.currency ?? 'USD',
        }
      })
      const content = {
        catalog_id: input.catalogId ?? catalog?.id ?? '0',
        text: input.text ?? '',
        product_items: items,
      }
      return write(network, phone, input, { type: 'order', content })
    },
  ),
}

function mediaAction(kind: PhoneMedia) {
  return action(object({ ...messageContext, ...mediaMembers }), (network, phone, input) =>
    write(network, phone, input, mediaMessage(network, numberFor(network, phone, input.to), kind, input)),
  )
}

function write(network: Network, phone: Phone, options: MessageContext, inbound: Inbound): ActionResult {
  const business = numberFor(network, phone, options.to)
  const context = contextOf(network, business, options)
  const extra = options.referral ? { referral: options.referral } : {}
  return { id: receiveMessage(network, phone, business, { ...inbound, context, extra }).id }
}

/** The context of a reply has the author and ID of the quoted message. That of a forward has no ID. */
export function contextOf(network: Network, business: PhoneNumber, options: MessageContext): Json | undefined {
  if (options.replyTo === undefined && options.product === undefined)
    return options.forwarded && { [options.forwarded === 'often' ? 'frequently_forwarded' : 'forwarded']: true }
  const quoted = options.replyTo === undefined ? undefined : network.world.messages.get(options.replyTo)
  return {
    from: quoted?.direction === 'in' ? quoted.waId : business.phoneNumber,
    ...(options.replyTo === undefined ? {} : { id: options.replyTo }),
    ...(options.product ? { referred_product: options.product } : {}),
  }
}
