/** How much there is, where it lies in time, and ids that fit: each statement of the seed works out the same ones. */

export const requests = Number(process.env.BENCH_REQUESTS ?? 10_000_000)
export const sent = Math.round(requests * 0.06)
export const received = Math.round(requests * 0.04)
export const days = 30
export const dayMs = 86_400_000

export interface Place extends Few {
  workspaceId: string
  startMs: number
  stepMs: number
}

export interface Few {
  keys: string[]
  senders: string[]
  templates: string[]
  webhooks: string[]
}

/** An id that begins with a time, as those that are made do. */
export const idAt = (at: string, salt: string): string =>
  `(lpad(to_hex(floor(extract(epoch from ${at}) * 1000)::bigint), 12, '0') || '7' || substr(md5(${salt}), 1, 3)
    || '8' || substr(md5(${salt}), 4, 15))::uuid`

/** When the request of a number was made: $1 is when the first was, $2 what lies between two. */
export const timeOf = (n: string): string => `to_timestamp(($1::float8 + floor(${n} * $2::float8)) / 1000)`

/** Every so many requests, one sent a message; the last of all did. */
export const each = Math.floor(requests / sent)
export const requestOf = (n: string): string => `(${requests - 1}::bigint - (${sent - 1} - ${n}) * ${each})`

/** A number below so many that an id always gives. */
export const lotOf = (id: string, below: number): string => `(('x' || right(${id}::text, 6))::bit(24)::int % ${below})`
