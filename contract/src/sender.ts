/** The phone numbers that a workspace sends and receives messages with. */
import { type Static, Type } from 'typebox'
import { described, SenderId, Timestamp } from './ids.ts'

/** WhatsApp's names. Only `CONNECTED` can send. */
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
    id: described(SenderId, 'The ID of the sender.'),
    object: Type.Literal('sender', { description: 'The object type.' }),
    phone_number: Type.String({ description: 'The phone number in international format, digits only.' }),
    display_name: Type.Union([Type.String(), Type.Null()], { description: 'The display name that WhatsApp verified.' }),
    status: Type.String({
      description: `One of ${senderStatuses.map((status) => `\`${status}\``).join(', ')}; values may be added. Only \`CONNECTED\` can send.`,
    }),
    quality_rating: Type.String({
      description: `WhatsApp's quality rating of the number: ${qualityRatings.map((rating) => `\`${rating}\``).join(', ')}.`,
    }),
    created_at: described(Timestamp, 'When the sender was added to the workspace. ISO 8601, UTC.'),
  },
  {
    $id: 'Sender',
    description: 'A phone number of the workspace.',
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
