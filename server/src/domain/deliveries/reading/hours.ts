import { hoursSince } from './hours.sql.ts'

export type { HourCounts } from './hours.sql.ts'

/** Attempts of a workspace by endpoint and hour, since an hour. */
export const readDeliveryHours = hoursSince
