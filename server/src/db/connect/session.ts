import type pg from 'pg'
import { PreparedQuery, type TextRow } from './prepared-query.ts'
import type { ServerClient } from './server-client.ts'

/** A dedicated connection, for session state: advisory locks and LISTEN. */
export interface Session {
  rows<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]>
  /** Returns the only row of a statement that runs often. It is prepared under this name. */
  queryRow(name: string, text: string): Promise<TextRow | undefined>
  listen(channel: string, onNotification: (payload: string) => void): Promise<void>
  /** Calls `callback` once if the connection is lost, but not after `close`. */
  onLost(callback: () => void): void
  close(): Promise<void>
}

/** How long a server may take to confirm that a connection is closed. */
const closeMs = 1_000

/** `whileWaiting` runs a statement and watches the connection for silence. */
export function newSession(client: ServerClient, whileWaiting: <T>(run: () => Promise<T>) => Promise<T>): Session {
  let closing = false
  const prepared = new Map<string, PreparedQuery>()
  return {
    rows: <Row extends object>(text: string, values: readonly unknown[] = []) =>
      whileWaiting(async () => (await client.query<Row & pg.QueryResultRow>(text, [...values])).rows),
    queryRow(name, text) {
      let query = prepared.get(name)
      if (!query) {
        query = new PreparedQuery(name, text)
        prepared.set(name, query)
      }
      return query.run(client)
    },
    async listen(channel, onNotification) {
      client.on('notification', (message) => {
        if (message.channel === channel) onNotification(message.payload ?? '')
      })
      await whileWaiting(() => client.query(`listen ${client.escapeIdentifier(channel)}`))
    },
    onLost(callback) {
      client.once('end', () => {
        if (!closing) callback()
      })
    },
    async close() {
      closing = true
      const timer = setTimeout(() => client.destroy(), closeMs)
      await client.end()
      clearTimeout(timer)
    },
  }
}
