import pg from 'pg'
import type { Connection } from './connection.ts'
import { PreparedQuery, type Reply } from './prepared-query.ts'

/** One connection of one's own, for what lasts as long as a connection does: locks and listening. */
export interface Session {
  rows<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]>
  /** The one row of a statement that is asked often; it is prepared under its name. */
  ask(name: string, text: string): Promise<Reply | undefined>
  listen(channel: string, heard: (payload: string) => void): Promise<void>
  /** Called once if the connection is lost; not when it is closed. */
  onLost(lost: () => void): void
  close(): Promise<void>
}

export async function openSession(connection: Connection): Promise<Session> {
  const client = new pg.Client({ ...connection, keepAlive: true, connectionTimeoutMillis: 10_000 })
  // Without a listener a lost connection would end the program; `end` tells of it as well.
  client.on('error', () => {})
  await client.connect()
  let closing = false
  const questions = new Map<string, PreparedQuery>()
  return {
    rows: async <Row extends object>(text: string, values: readonly unknown[] = []) =>
      (await client.query<Row & pg.QueryResultRow>(text, [...values])).rows,
    ask(name, text) {
      let question = questions.get(name)
      if (!question) {
        question = new PreparedQuery(name, text)
        questions.set(name, question)
      }
      return question.ask(client)
    },
    async listen(channel, heard) {
      client.on('notification', (message) => {
        if (message.channel === channel) heard(message.payload ?? '')
      })
      await client.query(`listen ${client.escapeIdentifier(channel)}`)
    },
    onLost(lost) {
      client.once('end', () => {
        if (!closing) lost()
      })
    },
    async close() {
      closing = true
      await client.end()
    },
  }
}
