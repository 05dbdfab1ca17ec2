import { type Static, Type } from 'typebox'

/** What a key may be granted, with what each allows. */
export const scopeCatalogue = {
  'senders:read': 'list the workspace’s sender numbers',
  'templates:read': 'list templates and the variables each needs',
  'messages:send': 'send messages (spends credits)',
  'messages:read': 'read the status of messages the key sent',
  'webhooks:read': 'read the webhook endpoint configuration',
  'flow_responses:read': 'read flow form submissions and fetch uploaded files',
} as const

export type Scope = keyof typeof scopeCatalogue

export const scopes = Object.keys(scopeCatalogue) as Scope[]

export const Scope = Type.Unsafe<Scope>(Type.String({ enum: scopes }))

export const isScope = (word: string): word is Scope => Object.hasOwn(scopeCatalogue, word)

export const Scopes = Type.Array(Scope)
export type Scopes = Static<typeof Scopes>
