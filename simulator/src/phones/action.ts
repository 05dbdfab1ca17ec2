import type { Network } from '../network.ts'
import { json, oneOf, optional, type Read, record, type Shape, text } from '../shape.ts'
import type { Phone } from '../world.ts'

/** Something a phone can do: what it takes, and how it is done. */
export interface Action<I = unknown> {
  shape: Shape<I>
  run: (network: Network, phone: Phone, input: I) => ActionResult
}

export interface ActionResult {
  /** The message this made, if it made one. */
  id?: string
  /** The messages that are read now. */
  read?: string[]
}

export type InputOf<A> = A extends Action<infer I> ? I : never

export function action<I>(shape: Shape<I>, run: Action<I>['run']): Action<I> {
  return { shape, run }
}

export const to = { to: optional(text({ max: 40 })) }

/** Where a message comes from, besides the person: a quoted message, another chat, an advertisement, a product page. */
export const setting = {
  ...to,
  replyTo: optional(text({ max: 300 })),
  forwarded: optional(oneOf('once', 'often')),
  referral: optional(record(json)),
  product: optional(record(json)),
}

export type Setting = { [K in keyof typeof setting]?: Read<(typeof setting)[K]> }
