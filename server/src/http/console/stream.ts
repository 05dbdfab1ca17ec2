import { Readable } from 'node:stream'
import { Type } from 'typebox'
import { type BytesResponse, openBytes } from '../bytes.ts'
import type { ConsoleContext } from './route.ts'

/** The reply schema of a route that returns a stream. */
export const Streamed = Type.Unsafe<Readable>(Type.String({ format: 'binary' }))

/** Streams a file or a part of it, with the same headers as in the API: no browser renders or executes it as a page. */
export async function streamBytes(
  { setHeader, setStatus }: ConsoleContext,
  response: BytesResponse,
): Promise<Readable> {
  const { status, headers } = response
  const bytes = await openBytes(response, 'GET')
  setStatus(status)
  for (const [name, value] of Object.entries(headers)) setHeader(name, value)
  return bytes
}

/** Streams a CSV file line by line, and records the export with its filters before the first one is sent. */
export async function streamCsv(
  { setHeader, audit }: ConsoleContext,
  name: string,
  filters: Readonly<Record<string, unknown>>,
  lines: AsyncIterable<string> | Iterable<string>,
): Promise<Readable> {
  await audit({ action: 'data.export', targetName: name, after: Object.keys(filters).length > 0 ? filters : null })
  setHeader('Content-Type', 'text/csv; charset=utf-8')
  setHeader('Content-Disposition', `attachment; filename="${name}"`)
  return Readable.from(lines, { objectMode: false })
}
