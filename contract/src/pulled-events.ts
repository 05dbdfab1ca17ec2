/** Reading events: `GET /v1/events`. */
import { type Static, Type } from 'typebox'
import { eventSchemas, eventTypes, MessageDelivered } from './events.ts'
import { examplesOf } from './page.ts'

export const defaultEventLimit = 100
const maxEventLimit = 1000
/** Proxies usually close a connection after 30 or 60 seconds without a byte. */
const maxWaitSeconds = 25

export const EventQuery = Type.Object(
  {
    after: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        examples: ['latest'],
        description:
          'The `next_cursor` of the previous response. Without it, the list begins with the oldest event that is stored; with `latest`, it begins now.',
      }),
    ),
    type: Type.Optional(
      Type.Array(Type.String({ enum: [...eventTypes] }), {
        maxItems: 50,
        examples: [['message.received', 'message.failed']],
        description: 'Only events of this type. Repeat it for several types.',
      }),
    ),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: maxEventLimit,
        default: defaultEventLimit,
        description: 'The maximum number of events. Large events can make a page shorter.',
      }),
    ),
    wait: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: maxWaitSeconds,
        default: 0,
        description:
          'If there is no event, how many seconds to wait for one. The response is sent as soon as there is one; with `type`, one of those types.',
      }),
    ),
  },
  { additionalProperties: false },
)
export type EventQuery = Static<typeof EventQuery>

export const EventPage = Type.Object(
  {
    object: Type.Literal('list', { description: 'The object type.' }),
    data: Type.Array(Type.Union(Object.values(eventSchemas)), {
      description:
        'The events, each byte for byte as webhooks deliver it. Ignore types and fields that you do not know.',
    }),
    has_more: Type.Boolean({
      description: 'Whether more events may be available. If it is true, request the next page without waiting.',
    }),
    next_cursor: Type.String({
      description: 'Pass it as `after` in the next request. Always set, even if the page has no events.',
    }),
  },
  {
    examples: [
      {
        object: 'list',
        data: examplesOf(MessageDelivered),
        has_more: false,
        next_cursor: 'AwAAAaHeid9gPOIIAAAAvFUBod1-UoB1LIiGGWXncRUGUNhY4JhezH9gQYqvDMWrWA',
      },
    ],
  },
)
export type EventPage = Static<typeof EventPage>
