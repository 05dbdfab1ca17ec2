import { type Static, Type } from 'typebox'

/** The scopes of API keys, and what each allows. */
const scopeCatalogue = {
  'senders:read': 'list the workspace’s senders',
  'templates:read': 'list templates and the variables each needs',
  'messages:send': 'send messages (spends credits)',
  'messages:read': 'read the status of messages that the key sent',
  'inbound:read': 'read received messages and download their files',
  'webhooks:read': 'read the webhooks and their settings',
  'events:read': 'read events, as webhooks deliver them',
  'flow_responses:read': 'read form submissions and download uploaded files',
} as const

export type Scope = keyof typeof scopeCatalogue

export const scopes = Object.keys(scopeCatalogue) as Scope[]

export const Scope = Type.Unsafe<Scope>(Type.String({ enum: scopes }))

export const isScope = (name: string): name is Scope => Object.hasOwn(scopeCatalogue, name)

export const Scopes = Type.Array(Scope, { description: 'The scopes of the key.' })
export type Scopes = Static<typeof Scopes>
