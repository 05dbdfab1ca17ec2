import type { Network } from '../network.ts'
import { json, oneOf, optional, type Parsed, record, type Shape, text } from '../shape.ts'
import type { Phone, PhoneNumber } from '../world.ts'

/** An action of a phone or of a business number: its input and what it does. */
export interface Action<I = unknown, S = Phone> {
  shape: Shape<I>
  run: (network: Network, subject: S, input: I) => ActionResult
}

export interface ActionResult {
  /** The ID of the created message, if any. */
  id?: string
  /** The IDs of the messages that were marked as read. */
  read?: string[]
}

export type InputOf<A> = A extends { shape: Shape<infer I> } ? I : never

export function action<I>(shape: Shape<I>, run: Action<I>['run']): Action<I> {
  return { shape, run }
}

export function businessAction<I>(shape: Shape<I>, run: Action<I, PhoneNumber>['run']): Action<I, PhoneNumber> {
  return { shape, run }
}

/** The message that an action is about. Without it, the latest matching message. */
export const target = { message: optional(text({ max: 300 })) }

export const to = { to: optional(text({ max: 40 })) }

/** The context of a message: the number it goes to, a quoted message, a forward, an ad or a product page. */
export const messageContext = {
  ...to,
  replyTo: optional(text({ max: 300 })),
  forwarded: optional(oneOf('once', 'often')),
  referral: optional(record(json)),
  product: optional(record(json)),
}

export type MessageContext = { [K in keyof typeof messageContext]?: Parsed<(typeof messageContext)[K]> }
