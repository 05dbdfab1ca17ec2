/** Files that are uploaded to be sent. */
import { type Static, Type } from 'typebox'
import { described, MediaId, MessageId, Timestamp } from './ids.ts'

/** The largest file that can be uploaded: WhatsApp's limit for documents. */
export const maxUploadBytes = 100_000_000

/** How long an uploaded file can be sent: as long as WhatsApp keeps it. */
export const uploadDays = 30

export const Media = Type.Object(
  {
    id: described(MediaId, 'The ID of the file. Use it as `image.id`, `video.id` and so on in `POST /v1/messages`.'),
    object: Type.Literal('media', { description: 'The object type.' }),
    mime_type: Type.String({ description: 'The media type, as you sent it, without parameters.' }),
    size: Type.Integer({ minimum: 1, description: 'The size in bytes.' }),
    sha256: Type.String({ description: 'The SHA-256 hash of the file, in hex.', pattern: '^[0-9a-f]{64}$' }),
    created_at: described(Timestamp, 'When the file was uploaded. ISO 8601, UTC.'),
    expires_at: described(Timestamp, 'Until when the file can be sent. It is deleted afterwards. ISO 8601, UTC.'),
  },
  {
    $id: 'Media',
    description: 'A file that was uploaded to be sent.',
    examples: [
      {
        id: 'med_0199b2f4-6c1e-7a53-9d0e-5f1f6a2b3c4d',
        object: 'media',
        mime_type: 'video/mp4',
        size: 15_872_034,
        sha256: '72fd8a734216768565faf2b59cec266eea00a78dd039ce84356319fc8c4ad22e',
        created_at: '2026-08-01T09:30:00.000Z',
        expires_at: '2026-08-31T09:30:00.000Z',
      },
    ],
  },
)

/** The body of `POST /v1/media`, as `multipart/form-data`. */
export const MediaUpload = Type.Object(
  {
    file: Type.String({
      contentMediaType: 'application/octet-stream',
      description:
        'The file, with its name and its `Content-Type`. At most 100,000,000 bytes. No other part is allowed.',
    }),
  },
  { additionalProperties: false, examples: [{ file: 'The bytes of the file.' }] },
)

export const InboundMediaParams = Type.Object({
  id: described(MessageId, 'The `message_id` of the received message.'),
})

export type Media = Static<typeof Media>
