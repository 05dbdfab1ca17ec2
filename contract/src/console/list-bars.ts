import { type Static, Type } from 'typebox'
import { nullable, Timestamp } from '../ids.ts'

/** The rows of a list by result over time, for the bars above it. */
export const ListBars = Type.Object({
  /** When each bar begins, and when the last one ends: one more than there are bars. */
  times: Type.Array(Timestamp),
  /** The rows of each result: one number for each bar. */
  counts: Type.Record(Type.String(), Type.Array(Type.Integer())),
  /** Older rows of the range are not counted, because they are too many. Null if all are counted. */
  counted_from: nullable(Timestamp),
})
export type ListBars = Static<typeof ListBars>

/** In addition to the filters of the list: the time zone in which days begin, as in `Europe/Berlin`. */
export const barsQuery = { zone: Type.Optional(Type.String({ minLength: 1, maxLength: 60 })) }
