/**
 * From when on something is about to expire: a week before its end, or half of its lifetime before if that is shorter. There is one rule
 * for keys and access tokens, for emails and for what the console shows.
 */
export const aboutToExpireSql = (begin: string, end: string): string =>
  `(${end} - least(interval '7 days', (${end} - ${begin}) / 2))`
