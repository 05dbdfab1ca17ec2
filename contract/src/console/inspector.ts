import { type Static, Type } from 'typebox'
import { nullable } from '../ids.ts'

/** How many days bodies and error responses are kept, if contents and logs are not kept for a shorter time. */
const inspectorDays = 7

/** A stored body is cut after this many characters: enough for every message, and for the first rows of a list. */
export const storedBodyMax = 16_384

/**
 * Characters of bodies that are stored for a workspace in a minute and process: about 1,000 messages with their responses. It
 * bounds what the inspector adds to the database to about 10 GB in seven days, however many requests a workspace makes.
 */
export const storedBodiesPerMinute = 1_048_576

/**
 * Characters of error responses that are stored for a workspace in a minute and process: about 150 errors. They are stored for
 * every workspace, so a client that repeats a wrong request in a loop must not fill the database.
 */
export const storedErrorsPerMinute = 65_536

/** What is stored of a body. The settings and every request show it. */
export const redactionRule =
  'Field names are stored as they are; so are IDs of Parley, message types, template names and languages, and in responses statuses, error codes, times, counts, true and false. Every other value is replaced by its length, and so is everything in the contents of a message: phone numbers, names, texts, template variables, form answers, links, coordinates and references. Headers, such as Authorization, and files are never stored.'

/**
 * `truncated`: cut after `storedBodyMax` characters. Without text: `file` is a file, `unread` was not read or is not JSON,
 * `too_large` is longer than what is redacted.
 */
const bodyStates = ['stored', 'truncated', 'file', 'unread', 'too_large'] as const
export type BodyState = (typeof bodyStates)[number]

export const StoredBody = Type.Object({
  state: Type.Unsafe<BodyState>(Type.String({ enum: [...bodyStates] })),
  /** JSON, unless it is truncated. */
  text: nullable(Type.String()),
})
export type StoredBody = Static<typeof StoredBody>

/** How many days an installation keeps what the inspector stores. */
export const inspectorDaysOf = (retentionDays: number, contentRetentionDays: number | null): number =>
  Math.min(inspectorDays, retentionDays, contentRetentionDays ?? inspectorDays)
