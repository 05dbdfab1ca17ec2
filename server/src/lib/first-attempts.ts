/** The terms between those who publish events and the delivery worker of their process, which makes the first attempts. */

/** Why an attempt is made. */
export type Trigger = 'first' | 'retry' | 'manual'

/** What deliveries are written under. */
export interface Lease {
  token: string | null
  /** When others may take it up; without a token that is when it is due. */
  until: Date
  /** Endpoints that it does not hold for: they have enough to do. */
  except: readonly string[]
}

/** A delivery that this process has the lease of, with all that an attempt needs. */
export interface LeasedDelivery {
  eventId: string
  webhookId: string
  workspaceId: string
  eventCreatedAt: Date
  type: string
  body: Buffer
  /** Attempts made of the current schedule. */
  attempts: number
  trigger: Trigger
  lease: string
  /** When others may take it up, in milliseconds. */
  leaseUntilMs: number
}

export interface FirstAttempts {
  /** For deliveries that are about to be written; null if others should take them up. */
  newLease(now: Date): Lease | null
  /** Begins the first attempts of what was written and committed under a lease. */
  take(items: readonly LeasedDelivery[]): void
}
