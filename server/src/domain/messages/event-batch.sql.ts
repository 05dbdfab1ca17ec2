/** What statements that store messages or statuses together with their events have in common. */

/** One event per row, and the lease for their deliveries. */
export interface EventBatch {
  createdAt: Date
  rows: readonly { id: string; body: Buffer; senderId: string | null; person: string | null }[]
  lease: { until: Date; token: string | null; except: readonly string[] }
}

/** What such a statement returns with a row: one delivery of its event. Null if no endpoint subscribes to it. */
export interface DeliveryOfRow {
  eventId: string | null
  webhookId: string | null
  leased: boolean | null
  conversation: string | null
}

export const hasDelivery = <Row extends DeliveryOfRow>(
  row: Row,
): row is Row & { eventId: string; webhookId: string; leased: boolean } => row.webhookId !== null

/** The parameters of such a statement besides its rows. */
export const eventParameters = {
  createdAt: 'timestamptz',
  leaseUntil: 'timestamptz',
  leaseToken: 'uuid',
  leaseExcept: 'uuid[]',
} as const

/** The CTEs that insert events and their deliveries. */
export type InsertEventsSql = (events: string, places: Readonly<Record<keyof typeof eventParameters, string>>) => string

export const eventValues = ({ createdAt, lease }: Pick<EventBatch, 'createdAt' | 'lease'>) => ({
  createdAt,
  leaseUntil: lease.until,
  leaseToken: lease.token,
  leaseExcept: lease.except,
})

/** Each row with the ID and the body of its event, and the sender and the person that this is about. */
export const withEvents = <Row>(rows: readonly Row[], { rows: events }: EventBatch) =>
  rows.map((row, index) => {
    const { id, body, senderId, person } = events[index] as EventBatch['rows'][number]
    return { ...row, eventId: id, body, senderId, person }
  })
