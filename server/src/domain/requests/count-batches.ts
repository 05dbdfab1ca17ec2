import { type BatchId, BatchWriter } from '../../db/batch-writer.ts'

/** Adds counts to the database, one batch at a time. A batch that failed is repeated unchanged: it may have been added. */
export class CountBatches<Row> {
  readonly #writer = new BatchWriter()
  readonly #add: (id: BatchId, rows: readonly Row[]) => Promise<unknown>
  #unconfirmed: { id: BatchId; rows: readonly Row[] } | null = null

  constructor(add: (id: BatchId, rows: readonly Row[]) => Promise<unknown>) {
    this.#add = add
  }

  /** Repeats the batch that failed, if any, then adds the counts that `take` removes from memory. */
  async write(take: () => readonly Row[]): Promise<void> {
    await this.#confirm()
    const rows = take()
    if (rows.length === 0) return
    this.#unconfirmed = { id: this.#writer.next(), rows }
    await this.#confirm()
  }

  async #confirm(): Promise<void> {
    if (this.#unconfirmed === null) return
    await this.#add(this.#unconfirmed.id, this.#unconfirmed.rows)
    this.#unconfirmed = null
  }
}
