import { type EventType, eventTypes } from '@parley/contract/event-types'
import type { EventQuery } from '@parley/contract/pulled-events'
import type { PulledPage } from '@parley/server/domain/deliveries/pulling/pull-events'
import { type Call, UsageError } from './command.ts'
import { readList } from './read-options.ts'

/** The events of a workspace, as `GET /v1/events` gives them. */
export interface EventFeed {
  read(query: EventQuery & { type?: EventType[] }): Promise<PulledPage>
  /** Passes events on, one after the other, until it is stopped. Returns where it stopped. */
  follow(options: FollowOptions, take: (body: Buffer) => Promise<void>): Promise<string>
  close(): Promise<void>
}

export interface FollowOptions {
  after: string
  types: EventType[] | undefined
}

/** The event types of --event; undefined for all. */
export function readTypes(call: Pick<Call, 'options'>): EventType[] | undefined {
  const types = readList(call, 'event').map(readType)
  return types.length > 0 ? types : undefined
}

export function readType(text: string): EventType {
  const type = eventTypes.find((each) => each === text)
  if (type) return type
  throw new UsageError(`"${text}" is not an event type. Choose from ${eventTypes.join(', ')}.`)
}
