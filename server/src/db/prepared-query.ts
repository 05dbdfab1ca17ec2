import type pg from 'pg'

/** The columns of a row, as text. */
export type Reply = readonly (string | null)[]

/**
 * A statement that is asked again and again on one connection. It takes no parameters, so after the first time each
 * asking is the same bytes in one piece, which spares most of what a query of `pg` costs.
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
    // Closed first, which is no fault where there is none: a first asking that failed may have got as far as preparing it.
    const close = message('C', Buffer.from(`S${name}\0`))
    this.#first = Buffer.concat([close, message('P', Buffer.from(`${name}\0${text}\0\0\0`)), this.#again])
  }

  get bytes(): Buffer {
    return this.#isPrepared ? this.#again : this.#first
  }

  /** Its one row, if there is one. */
  ask(client: pg.Client): Promise<Reply | undefined> {
    return new Promise((resolve, reject) => {
      const responded = (reply: Reply | undefined) => {
        this.#isPrepared = true
        resolve(reply)
      }
      client.query(new Asking(this, responded, reject))
    })
  }
}

/** What `pg` passes the messages on to that concern one asking. */
class Asking {
  readonly #question: PreparedQuery
  readonly #answered: (reply: Reply | undefined) => void
  readonly #failed: (error: Error) => void
  #reply: Reply | undefined

  constructor(question: PreparedQuery, responded: (reply: Reply | undefined) => void, failed: (error: Error) => void) {
    this.#question = question
    this.#answered = responded
    this.#failed = failed
  }

  submit(connection: pg.Connection): void {
    connection.stream.write(this.#question.bytes)
  }

  handleDataRow({ fields }: { fields: Reply }): void {
    this.#reply = fields
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.#answered(this.#reply)
  }

  handleError(error: Error): void {
    this.#failed(error)
  }
}

/** A message of PostgreSQL's protocol: its letter, its length without the letter, what it says. */
function message(letter: string, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts)
  const head = Buffer.alloc(5, letter)
  head.writeInt32BE(4 + body.length, 1)
  return Buffer.concat([head, body])
}
