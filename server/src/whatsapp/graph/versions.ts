/** When Meta ends a version of the Graph API, or something else that requests depend on. From Meta's changelogs. */

export const defaultGraphVersion = 'v25.0'

/** Versions and their last day. Null: Meta has not set it. Later calls use the oldest version that is left. */
export const graphVersions: ReadonlyMap<string, Date | null> = new Map([
  ['v21.0', new Date('2027-01-21')],
  ['v22.0', new Date('2027-05-20')],
  ['v23.0', new Date('2027-10-08')],
  ['v24.0', new Date('2028-02-18')],
  ['v25.0', new Date('2028-07-29')],
  ['v26.0', null],
])

export interface Deprecation {
  what: string
  /** Null: Meta has not set the day. */
  ends: Date | null
  /** What Parley does about it. */
  effect: string
  remedy: string | null
}

/** Parts of the API that Meta has announced to end. */
export const deprecations: readonly Deprecation[] = [
  {
    what: 'messaging_limit_tier of a phone number',
    ends: null,
    effect: 'Parley reads whatsapp_business_manager_messaging_limit instead.',
    remedy: null,
  },
  {
    what: 'conversation of a message status (webhooks before v24.0)',
    ends: new Date('2027-10-08'),
    effect: 'Parley reads pricing instead.',
    remedy: null,
  },
]
