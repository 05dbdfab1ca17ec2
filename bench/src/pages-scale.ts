/** The amounts, times and IDs of the seeded rows. They are computed, so that all statements use the same ones. */
import { numberSetting } from './lib/settings.ts'

export const requests = numberSetting('BENCH_REQUESTS', 10_000_000)
export const sent = Math.round(requests * 0.06)
export const received = Math.round(requests * 0.04)
export const days = 30
/** How many people there are to write with. */
export const people = Math.max(50, Math.round(requests / 200))
export const dayMs = 86_400_000

export interface SeedTarget extends WorkspaceObjects {
  workspaceId: string
  startMs: number
  stepMs: number
}

export interface WorkspaceObjects {
  keys: string[]
  senders: string[]
  templates: string[]
  webhooks: string[]
}

/** A UUID that starts with a time, like UUIDv7. */
export const idAt = (at: string, salt: string): string =>
  `(lpad(to_hex(floor(extract(epoch from ${at}) * 1000)::bigint), 12, '0') || '7' || substr(md5(${salt}), 1, 3)
    || '8' || substr(md5(${salt}), 4, 15))::uuid`

/** The days from request `n` to the last one, if all days and hours were alike. */
const daysBefore = (n: string): string => `(${days - 1} - ${n} * $2::float8 / ${dayMs})`

/**
 * The time of request `n`: $1 is about the time of the first request, $2 the average interval between two. By day there are
 * up to four times as many as at night, and weeks have busy and quiet days. Times grow with `n`.
 */
export const timeOf = (n: string): string =>
  `to_timestamp(floor($1::float8 + ${(days - 1) * dayMs} - ${dayMs} * (${daysBefore(n)}
    + ${0.6 / (2 * Math.PI)} * (1 - cos(2 * pi() * ${daysBefore(n)}))
    + ${(0.25 * 7) / (2 * Math.PI)} * (1 - cos(2 * pi() * ${daysBefore(n)} / 7)))) / 1000)`

/** One in so many requests sends a message, including the last one. */
export const sendInterval = Math.floor(requests / sent)
export const requestOf = (n: string): string => `(${requests - 1}::bigint - (${sent - 1} - ${n}) * ${sendInterval})`

/** A number from 0 to `below` - 1 that depends only on the ID. */
export const bucketOf = (id: string, below: number): string =>
  `(('x' || right(${id}::text, 6))::bit(24)::int % ${below})`
