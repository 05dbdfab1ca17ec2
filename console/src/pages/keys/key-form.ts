import type { ConsoleKey, KeyChange, NewKey } from '@parley/contract/console/keys'
import type { Scope } from '@parley/contract/scopes'
import { serviceNow } from '../../lib/clock.ts'
import { fromTimeField } from '../../lib/time-zone.ts'
import type { Errors } from '../../lib/use-form.ts'
import { rangesProblem } from './ranges.ts'

export type ExpiryKind = 'never' | '30' | '90' | '365' | 'date' | 'unchanged'

export interface KeyDraft {
  name: string
  scopes: string[]
  rate_limit_per_min: number
  ip_allow_list: string[]
  /** `day` is set for `date` only: YYYY-MM-DD, as the date field has it. */
  expires_at: { kind: ExpiryKind; day: string }
}

export const emptyDraft: KeyDraft = {
  name: '',
  scopes: [],
  rate_limit_per_min: 30,
  ip_allow_list: [],
  expires_at: { kind: 'never', day: '' },
}

export const draftOf = (key: ConsoleKey): KeyDraft => ({
  name: key.name,
  scopes: [...key.scopes],
  rate_limit_per_min: key.rate_limit_per_min,
  ip_allow_list: [...key.ip_allow_list],
  expires_at: { kind: key.expires_at ? 'unchanged' : 'never', day: '' },
})

export function errorsIn(draft: KeyDraft): Errors<KeyDraft> {
  const { name, scopes, ip_allow_list: ranges } = draft
  const { kind, day } = draft.expires_at
  return {
    name: name.trim() ? undefined : 'Enter a name, such as the system that will use the key.',
    scopes: scopes.length > 0 ? undefined : 'Choose at least one scope.',
    ip_allow_list: rangesProblem(ranges),
    expires_at: kind === 'date' && !(endOf(day) > serviceNow()) ? 'Choose a date in the future.' : undefined,
  }
}

export function rulesOf({ expires_at: { kind, day }, ...draft }: KeyDraft): NewKey & KeyChange {
  const rules = { ...draft, name: draft.name.trim(), scopes: draft.scopes as Scope[] }
  if (kind === 'unchanged') return rules
  if (kind === 'never') return { ...rules, expires_at: null }
  const at = kind === 'date' ? endOf(day) : serviceNow() + Number(kind) * 86_400_000
  return { ...rules, expires_at: new Date(at).toISOString() }
}

/** The end of the day in the person's time zone. NaN without a day. */
const endOf = (day: string): number => fromTimeField(`${day}T23:59:59.999`)?.getTime() ?? Number.NaN
