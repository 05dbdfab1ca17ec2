/** The types between code that publishes events and the delivery worker that attempts them first. */
import type { Topic } from '../../../db/topic.ts'

/** Why an attempt is made. `replay` is the first one of a replay; its retries are retries. */
export type Trigger = 'first' | 'retry' | 'manual' | 'replay'

/** How long the lease of a delivery lasts. */
export const leaseMs = 30_000

/** The lease that new deliveries are written with. */
export interface Lease {
  token: string | null
  /** When other workers may claim the delivery. Without a token, this is when it is due. */
  until: Date
  /** Endpoints without a lease, because their queue in this process is full. */
  except: readonly string[]
}

/** A delivery that this process holds the lease of, with everything an attempt needs. */
export interface LeasedDelivery {
  eventId: string
  webhookId: string
  workspaceId: string
  eventCreatedAt: Date
  type: string
  body: Buffer
  /** Attempts so far in the current retry schedule. */
  attempts: number
  trigger: Trigger
  lease: string
  /** Set if others may wait until it has ended. */
  conversation: string | null
  /** Claimed as the one attempt that a failing endpoint gets at a time. */
  hasTurn: boolean
  /** When other workers may claim it, in milliseconds. */
  leaseUntilMs: number
  replayId?: string | null
  /** Limits when it may begin: a first attempt of a replay that this process runs. */
  pace?: Pace | null
}

/** How fast the deliveries of one replay begin. Call `end` for every item that was taken, begun or not. */
export interface Pace {
  readonly replayId: string
  /** False if another process may run the replay by now: what was taken must not begin. */
  readonly isOwned: boolean
  mayTake(): boolean
  take(item: LeasedDelivery): void
  begin(item: LeasedDelivery): void
  end(item: LeasedDelivery): void
}

/** The deliveries of one endpoint that are made one after another. */
export interface Conversation {
  workspaceId: string
  webhookId: string
  conversation: string
}

/** Makes the first attempts of new deliveries: the worker of this process or, if it does not deliver, workers of others. */
export const firstAttempts = 'first attempts' as Topic<FirstAttempts>

export interface FirstAttempts {
  /** A lease for deliveries that are about to be written; null if other workers should claim them. */
  newLease(now: Date): Lease | null
  /** Starts the first attempts of deliveries that were committed with a lease. */
  take(items: readonly LeasedDelivery[]): void
  /** Starts the next delivery of each conversation in which none is in progress. */
  startNext(conversations: readonly Conversation[]): void
}

/** The keys of a delivery and the lease it was written with. */
export type HandedDelivery = Pick<LeasedDelivery, 'webhookId' | 'eventId' | 'lease'>

/** Takes deliveries that other processes have written with a lease for it. */
export interface DeliveryTaker {
  /** The endpoints it takes no more of for now; null if it takes nothing. */
  full(): readonly string[] | null
  /** Starts the first attempts of deliveries that were handed over. */
  receive(handed: readonly HandedDelivery[]): void
}
