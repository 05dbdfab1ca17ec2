/**
 * The place of an event in the order that all readers see: by transaction, then by ID. Events without a transaction ID come
 * first, by time and ID; their transaction is 0 here. docs/decisions/reading-events.md explains it.
 */
export interface Place {
  transactionId: bigint
  id: string
}

const firstId = '00000000-0000-0000-0000-000000000000'
const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** Before the events without a transaction ID. */
export const oldStart: Place = { transactionId: 0n, id: firstId }
/** Before all others. The first transaction ID of PostgreSQL is 3. */
export const liveStart: Place = { transactionId: 1n, id: firstId }

export const isOld = ({ transactionId }: Place): boolean => transactionId === 0n

export const endOfTransaction = (transactionId: bigint): Place => ({ transactionId, id: lastId })

/** The place for a server that may use transaction IDs from `begin` on again. Events may be repeated; none is skipped. */
export const notBeyond = (place: Place, begin: bigint): Place =>
  place.transactionId < begin ? place : { transactionId: begin, id: firstId }
