import { type Static, Type } from 'typebox'
import { described, ReplayId, Timestamp, WebhookId } from './ids.ts'

const replayStates = ['running', 'completed', 'cancelled'] as const
export type ReplayState = (typeof replayStates)[number]

/** Which events of its time a replay covers: failed for good, never delivered successfully, or all. */
export const replayCoverages = ['failed', 'missing', 'all'] as const
export type ReplayCoverage = (typeof replayCoverages)[number]

/** First attempts per second, by default and at most: more than this a single endpoint rarely takes. */
export const defaultReplayRate = 50
export const replayRateMax = 1_000

/** A replay sends events that are kept to one endpoint again, or for the first time. */
export const Replay = Type.Object(
  {
    id: described(ReplayId, 'The ID of the replay, as in the header `Service-Replay` of its deliveries.'),
    webhook_id: described(WebhookId, 'The endpoint that the events are sent to.'),
    state: Type.Unsafe<ReplayState>(
      Type.String({
        enum: [...replayStates],
        description: '`completed` when every event was delivered or has failed permanently.',
      }),
    ),
    total: Type.Integer({ description: 'How many events it covers.' }),
    delivered: Type.Integer({ description: 'How many of them were delivered.' }),
    failed: Type.Integer({ description: 'How many of them have failed permanently.' }),
    rate: Type.Integer({ description: 'How many events are sent per second at most, not counting retries.' }),
    created_at: described(Timestamp, 'When it was started.'),
  },
  { description: 'Events that are sent to a webhook again, or for the first time.' },
)
export type Replay = Static<typeof Replay>
