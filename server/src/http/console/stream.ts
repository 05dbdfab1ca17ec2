import { Readable } from 'node:stream'
import { Type } from 'typebox'
import type { BytesResponse } from '../bytes.ts'
import type { ConsoleContext } from './route.ts'

/** The reply schema of a route that returns a stream. */
export const Streamed = Type.Unsafe<Readable>(Type.String({ format: 'binary' }))

/** Streams a whole file, with the same headers as in the API: no browser renders or executes it. */
export function streamBytes({ setHeader }: ConsoleContext, { headers, open }: BytesResponse): Readable {
  for (const [name, value] of Object.entries(headers)) setHeader(name, value)
  return Readable.from(open(), { objectMode: false })
}

/** Streams a CSV file line by line. */
export function streamCsv({ setHeader }: ConsoleContext, name: string, lines: AsyncIterable<string>): Readable {
  setHeader('Content-Type', 'text/csv; charset=utf-8')
  setHeader('Content-Disposition', `attachment; filename="${name}"`)
  return Readable.from(lines, { objectMode: false })
}
