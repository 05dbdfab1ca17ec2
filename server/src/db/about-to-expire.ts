const weekMs = 7 * 86_400_000

/**
 * From when on something is about to expire: a week before its end, or half of its lifetime before if that is shorter. There is one rule
 * for keys and access tokens, for emails and for what the console shows.
 */
export const isAboutToExpire = (begin: Date, end: Date, now: Date): boolean => {
  const leadMs = Math.min(weekMs, (end.getTime() - begin.getTime()) / 2)
  return now.getTime() >= end.getTime() - leadMs
}

/** The same in SQL: the time from which on it is about to expire. */
export const aboutToExpireSql = (begin: string, end: string): string =>
  `(${end} - least(interval '7 days', (${end} - ${begin}) / 2))`
