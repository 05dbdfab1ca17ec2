import pg from 'pg'
import type { Connection } from './connection.ts'
import { PreparedQuery, type TextRow } from './prepared-query.ts'

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

export async function openSession(connection: Connection): Promise<Session> {
  const client = new pg.Client({ ...connection, keepAlive: true, connectionTimeoutMillis: 10_000 })
  // Without a listener a lost connection would end the process. The `end` event reports the loss too.
  client.on('error', () => {})
  await client.connect()
  let closing = false
  const prepared = new Map<string, PreparedQuery>()
  return {
    rows: async <Row extends object>(text: string, values: readonly unknown[] = []) =>
      (await client.query<Row & pg.QueryResultRow>(text, [...values])).rows,
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
      await client.query(`listen ${client.escapeIdentifier(channel)}`)
    },
    onLost(callback) {
      client.once('end', () => {
        if (!closing) callback()
      })
    },
    async close() {
      closing = true
      await client.end()
    },
  }
}
