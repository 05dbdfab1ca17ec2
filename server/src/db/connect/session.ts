import type pg from 'pg'
import type { ServerClient } from './server-client.ts'

/** A dedicated connection, for session state: advisory locks and LISTEN. */
export interface Session {
  rows<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]>
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
  return {
    rows: <Row extends object>(text: string, values: readonly unknown[] = []) =>
      whileWaiting(async () => (await client.query<Row & pg.QueryResultRow>(text, [...values])).rows),
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
