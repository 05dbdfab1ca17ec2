/**
 * `coalesce(value, other)` for a comparison with an indexed column. With row-level security PostgreSQL does not use an index for
 * a comparison with `coalesce`, because it may be a function that reveals values. It does use one for `case`.
 */
export const orElse = (value: string, other: string): string =>
  `(case when ${value} is null then ${other} else ${value} end)`
