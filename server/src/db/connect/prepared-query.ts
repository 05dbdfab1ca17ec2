import type pg from 'pg'
import { isStalePlan } from './stale-plan.ts'

/** The columns of a row as text. */
export type TextRow = readonly (string | null)[]

/**
 * A statement without parameters that runs often on one connection. After the first run, every run sends the same bytes
 * in one write, which avoids most of the cost of a query in `pg`.
 */
export class PreparedQuery {
  readonly #first: Buffer
  readonly #again: Buffer
  #isPrepared = false

  constructor(name: string, text: string) {
    const noParameters = Buffer.alloc(6)
    const bind = message('B', Buffer.from(`\0${name}\0`), noParameters)
    const execute = message('E', Buffer.alloc(5))
    this.#again = Buffer.concat([bind, execute, message('S')])
    // Close the statement first, because a failed first run may have prepared it. It is no error if there is none.
    const close = message('C', Buffer.from(`S${name}\0`))
    this.#first = Buffer.concat([close, message('P', Buffer.from(`${name}\0${text}\0\0\0`)), this.#again])
  }

  get bytes(): Buffer {
    return this.#isPrepared ? this.#again : this.#first
  }

  run(client: pg.Client): Promise<TextRow | undefined> {
    return this.#runOnce(client).catch((error: unknown) => {
      this.#isPrepared = false
      if (!isStalePlan(error)) throw error
      return this.#runOnce(client)
    })
  }

  #runOnce(client: pg.Client): Promise<TextRow | undefined> {
    return new Promise((resolve, reject) => {
      const onRow = (row: TextRow | undefined) => {
        this.#isPrepared = true
        resolve(row)
      }
      client.query(new QueryRun(this, onRow, reject))
    })
  }
}

/** One run of the query. `pg` passes the server's messages to it. */
class QueryRun {
  readonly #query: PreparedQuery
  readonly #onRow: (row: TextRow | undefined) => void
  readonly #onError: (error: Error) => void
  #row: TextRow | undefined

  constructor(query: PreparedQuery, onRow: (row: TextRow | undefined) => void, onError: (error: Error) => void) {
    this.#query = query
    this.#onRow = onRow
    this.#onError = onError
  }

  submit(connection: pg.Connection): void {
    connection.stream.write(this.#query.bytes)
  }

  handleDataRow({ fields }: { fields: TextRow }): void {
    this.#row = fields
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.#onRow(this.#row)
  }

  handleError(error: Error): void {
    this.#onError(error)
  }
}

/** A message of the PostgreSQL protocol: type byte, length (without the type byte), body. */
function message(letter: string, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts)
  const head = Buffer.alloc(5, letter)
  head.writeInt32BE(4 + body.length, 1)
  return Buffer.concat([head, body])
}
