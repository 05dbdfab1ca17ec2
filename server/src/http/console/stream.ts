import { Readable } from 'node:stream'
import { Type } from 'typebox'
import type { Bytes } from '../bytes.ts'
import type { ConsoleContext } from './route.ts'

/** The reply of a route that answers with a stream: what is sent as it is made, and no faster than it is taken. */
export const Streamed = Type.Unsafe<Readable>(Type.String({ format: 'binary' }))

/** A kept file, whole. The headers are those that the API gives it: no browser shows or runs it. */
export function streamBytes({ setHeader }: ConsoleContext, { headers, open }: Bytes): Readable {
  for (const [name, value] of Object.entries(headers)) setHeader(name, value)
  return Readable.from(open(), { objectMode: false })
}

/** A table for spreadsheets, made line by line. */
export function streamCsv({ setHeader }: ConsoleContext, name: string, lines: AsyncIterable<string>): Readable {
  setHeader('Content-Type', 'text/csv; charset=utf-8')
  setHeader('Content-Disposition', `attachment; filename="${name}"`)
  return Readable.from(lines, { objectMode: false })
}
