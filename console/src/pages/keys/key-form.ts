import type { ConsoleKey, KeyChange, NewKey } from '@parley/contract/console/keys'
import type { Scope } from '@parley/contract/scopes'
import type { Errors } from '../../lib/use-form.ts'

export type ExpiryKind = 'never' | '30' | '90' | '365' | 'date' | 'kept'

/** What the form of a key holds. */
export interface KeyDraft {
  name: string
  scopes: string[]
  rate_limit_per_min: number
  ip_allow_list: string[]
  /** The day only of `date`, as the field has it. */
  expires_at: { kind: ExpiryKind; day: string }
}

export const emptyDraft: KeyDraft = {
  name: '',
  scopes: ['messages:send', 'messages:read', 'templates:read', 'senders:read'],
  rate_limit_per_min: 30,
  ip_allow_list: [],
  expires_at: { kind: 'never', day: '' },
}

export const draftOf = (key: ConsoleKey): KeyDraft => ({
  name: key.name,
  scopes: [...key.scopes],
  rate_limit_per_min: key.rate_limit_per_min,
  ip_allow_list: [...key.ip_allow_list],
  expires_at: { kind: key.expires_at ? 'kept' : 'never', day: '' },
})

export function errorsIn({ name, scopes, expires_at: { kind, day } }: KeyDraft): Errors<KeyDraft> {
  return {
    name: name.trim() ? undefined : 'Give it a name: the system that will use it.',
    scopes: scopes.length > 0 ? undefined : 'Choose at least one thing it may do.',
    expires_at: kind === 'date' && !(endOf(day) > Date.now()) ? 'Choose a day to come.' : undefined,
  }
}

export function rulesOf({ expires_at: { kind, day }, ...draft }: KeyDraft): NewKey & KeyChange {
  const rules = { ...draft, name: draft.name.trim(), scopes: draft.scopes as Scope[] }
  if (kind === 'kept') return rules
  if (kind === 'never') return { ...rules, expires_at: null }
  const at = kind === 'date' ? endOf(day) : Date.now() + Number(kind) * 86_400_000
  return { ...rules, expires_at: new Date(at).toISOString() }
}

/** The last moment of a day where this person is. */
const endOf = (day: string): number => new Date(`${day}T23:59:59.999`).getTime()
