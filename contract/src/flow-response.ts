/** A submitted form: the same data as in `flow.completed`. */
import { type Static, Type } from 'typebox'
import { FlowSubmission } from './events.ts'
import { Moment, Phone } from './formats.ts'
import { FlowResponseId, nullable, Timestamp } from './ids.ts'

const { id, ...submission } = FlowSubmission.properties

export const FlowResponse = Type.Object(
  {
    id,
    object: Type.Literal('flow_response', { description: 'The object type.' }),
    ...submission,
    response: nullable(
      Type.Record(Type.String(), Type.Unknown()),
      'The submitted values, by the field names of the form. A submission that is not a JSON object is kept unchanged in ' +
        'the single field `response_json`. Numbers are exactly as WhatsApp sent them; many JSON parsers round integers ' +
        'beyond 2^53. Null if they were removed.',
    ),
    content_removed_at: nullable(
      Timestamp,
      'When the submitted values, files and file names were removed: they are older than this installation keeps contents, ' +
        'or the person was erased. Null if they are available.',
    ),
  },
  {
    $id: 'FlowResponse',
    description: 'A form submission.',
    examples: [
      {
        id: 'frs_5c4b3a29-1807-4f6e-8d5c-4b3a29180706',
        object: 'flow_response',
        message_id: 'msg_0b9a8f7e-6d5c-4b3a-9281-706f5e4d3c2b',
        from: '16505550123',
        from_user_id: 'US.13491200000000000001',
        flow_token: 'claim-1001',
        flow_id: '800000000000001',
        source_message_id: 'msg_7d1c3c52-6a0a-4d8a-9e0b-1f2a3b4c5d6e',
        template_id: 'tpl_9e8d7c6b-5a49-4382-9716-05f4e3d2c1b0',
        response: { claim_type: 'auto', photos: [{ file_name: 'IMG_1.jpg', mime_type: 'image/jpeg' }] },
        files: [{ field: 'photos', index: 0, file_name: 'IMG_1.jpg', mime_type: 'image/jpeg' }],
        received_at: '2026-08-01T09:30:00.000Z',
        content_removed_at: null,
      },
    ],
  },
)

const moment = (description: string) => Type.Optional(Type.String({ ...Moment, description }))

/** The filters of `GET /v1/flow_responses`, in addition to those of every list. */
export const FlowResponseFilters = Type.Object({
  from: Type.Optional(Type.String({ ...Phone, description: "The submitter's phone number. Exact match." })),
  flow_id: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      description: "WhatsApp's ID of the form.",
      examples: ['800000000000001'],
    }),
  ),
  received_after: moment('Only forms submitted after this time, in ISO 8601 format.'),
  received_before: moment('Only forms submitted before this time, in ISO 8601 format.'),
})

export const FlowResponseParams = Type.Object({ id: FlowResponseId })

export const FlowFileParams = Type.Object({
  id: FlowResponseId,
  index: Type.String({
    pattern: '^(0|[1-9][0-9]{0,3})$',
    description: 'The `index` of an entry in `files`.',
    examples: ['0'],
  }),
})

/** Why a file is not available. */
export const fileLosses = ['missing', 'wrong_hash', 'too_large', 'too_late', 'quota_exceeded', 'retention'] as const
/** The last error of a file that waits until the workspace has space for it. */
export const quotaExceeded = 'quota_exceeded'
export type FileLoss = (typeof fileLosses)[number]

/** The download state of a file, as the console shows it. */
export type FileState =
  | { kind: 'waiting'; next_try_at: string; attempts: number; last_error: string | null }
  | { kind: 'fetched'; size: number; content_type: string; fetched_at: string }
  | { kind: 'gone'; why: FileLoss }

export type FlowResponse = Static<typeof FlowResponse>
export type FlowResponseFilters = Static<typeof FlowResponseFilters>

/** A submitted form with the download state of each of its files. */
export type FlowResponseWithFiles = Omit<FlowResponse, 'files'> & {
  files: (FlowResponse['files'][number] & { state: FileState })[]
}
