/**
 * Many values as one array of PostgreSQL's, written at once: `pg` would look at each of them for what needs quoting. Only
 * for what never does: ids, times, numbers and addresses of ours.
 */
export const arrayLiteral = (values: readonly (string | number | null)[]): string =>
  `{${values.map((value) => value ?? 'null').join(',')}}`
