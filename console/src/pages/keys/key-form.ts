import type { ConsoleKey, KeyChange, NewKey } from '@parley/contract/console/keys'
import type { Scope } from '@parley/contract/scopes'
import type { ApiError } from '../../lib/api.ts'

export type ExpiryKind = 'never' | '30' | '90' | '365' | 'date' | 'kept'

/** What the form of a key holds. */
export interface KeyDraft {
  name: string
  scopes: string[]
  rate: number
  ranges: string[]
  expiry: ExpiryKind
  /** Of `date`: a day, as the field has it. */
  day: string
}

export type KeyFaults = Partial<Record<'name' | 'scopes' | 'rate' | 'ranges' | 'expiry' | 'form', string | undefined>>

export const emptyDraft: KeyDraft = {
  name: '',
  scopes: ['messages:send', 'messages:read', 'templates:read', 'senders:read'],
  rate: 30,
  ranges: [],
  expiry: 'never',
  day: '',
}

export const draftOf = (key: ConsoleKey): KeyDraft => ({
  name: key.name,
  scopes: [...key.scopes],
  rate: key.rate_limit_per_min,
  ranges: [...key.ip_allow_list],
  expiry: key.expires_at ? 'kept' : 'never',
  day: '',
})

export function faultsOf(draft: KeyDraft): KeyFaults {
  const faults: KeyFaults = {}
  if (!draft.name.trim()) faults.name = 'Give it a name: the system that will use it.'
  if (draft.scopes.length === 0) faults.scopes = 'Choose at least one thing it may do.'
  if (draft.expiry === 'date' && !(endOf(draft.day) > Date.now())) faults.expiry = 'Choose a day to come.'
  return faults
}

/** What the service named, at our fields. */
export const faultsFrom = (error: ApiError): KeyFaults => ({
  name: error.faultOf('name'),
  scopes: error.faultOf('scopes'),
  rate: error.faultOf('rate_limit_per_min'),
  ranges: error.faultOf('ip_allow_list'),
  expiry: error.faultOf('expires_at'),
})

export function toWish(draft: KeyDraft): NewKey & KeyChange {
  const { name, scopes, rate, ranges, expiry, day } = draft
  const wish = { name: name.trim(), scopes: scopes as Scope[], rate_limit_per_min: rate, ip_allow_list: ranges }
  if (expiry === 'kept') return wish
  if (expiry === 'never') return { ...wish, expires_at: null }
  const at = expiry === 'date' ? endOf(day) : Date.now() + Number(expiry) * 86_400_000
  return { ...wish, expires_at: new Date(at).toISOString() }
}

/** The last moment of a day where this person is. */
const endOf = (day: string): number => new Date(`${day}T23:59:59.999`).getTime()
