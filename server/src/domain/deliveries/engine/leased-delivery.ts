/** Why an attempt is made. */
export type Trigger = 'first' | 'retry' | 'manual'

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

export const keyOf = ({ webhookId, eventId }: Pick<LeasedDelivery, 'webhookId' | 'eventId'>): string =>
  webhookId + eventId
