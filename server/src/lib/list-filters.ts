import { valuesOf } from '@parley/contract/console/list'

/** Filters of lists that are short and read at once. A filter that is not set matches everything. */
export const hasText = (q: string | undefined, ...texts: readonly (string | null)[]): boolean =>
  q === undefined || texts.some((text) => text?.toLowerCase().includes(q.trim().toLowerCase()))

/** The filter has several values, separated by commas. */
export const isOneOf = (filter: string | undefined, value: string): boolean => valuesOf(filter)?.includes(value) ?? true

export const isBetween = (at: string, from: string | undefined, to: string | undefined): boolean =>
  (from === undefined || Date.parse(at) >= Date.parse(from)) && (to === undefined || Date.parse(at) < Date.parse(to))
