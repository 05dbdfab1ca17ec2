/** The numbers a workspace sends from and is messaged on. */
import { type Static, Type } from 'typebox'
import { SenderId, Timestamp } from './ids.ts'

/** As the network names them. Only `CONNECTED` can send. */
export const senderStatuses = [
  'CONNECTED',
  'PENDING',
  'DISCONNECTED',
  'FLAGGED',
  'RESTRICTED',
  'RATE_LIMITED',
  'BANNED',
  'MIGRATED',
  'DELETED',
  'UNVERIFIED',
  'UNKNOWN',
] as const

export const qualityRatings = ['GREEN', 'YELLOW', 'RED', 'UNKNOWN'] as const

export const Sender = Type.Object(
  {
    id: SenderId,
    object: Type.Literal('sender'),
    phone_number: Type.String({ description: 'Digits only, in international form.' }),
    display_name: Type.Union([Type.String(), Type.Null()], { description: 'The name the network verified.' }),
    status: Type.String({
      description: `One of ${senderStatuses.map((status) => `\`${status}\``).join(', ')}; new values may appear. Only \`CONNECTED\` can send.`,
    }),
    quality_rating: Type.String({
      description: `The network's view of the number: ${qualityRatings.map((rating) => `\`${rating}\``).join(', ')}.`,
    }),
    created_at: Timestamp,
  },
  {
    $id: 'Sender',
    description: "One of the workspace's numbers.",
    examples: [
      {
        id: 'snd_3f2e1d0c-9b8a-4765-8432-10fedcba9876',
        object: 'sender',
        phone_number: '15550780001',
        display_name: 'Clinic Uno',
        status: 'CONNECTED',
        quality_rating: 'GREEN',
        created_at: '2026-08-01T09:30:00.000Z',
      },
    ],
  },
)

export type Sender = Static<typeof Sender>
