/** The uploaded files of a message: checked when it is accepted, and uploaded to the network before it is sent. */
import type { FieldError } from '@parley/contract/field-errors'
import type { Db } from '../../../db/db.ts'
import { withoutPrefix, withPrefix } from '../../../lib/ids.ts'
import type { CallFailure } from '../../../whatsapp/graph/call.ts'
import type { GraphAccess } from '../../../whatsapp/graph/client.ts'
import { type MediaReference, mediaReferences } from '../../../whatsapp/incoming/media-references.ts'
import { whyNotOfKind } from '../../../whatsapp/media-kinds.ts'
import { classifySendOutcome, type SendDecision } from '../../../whatsapp/outgoing/send-retry-policy.ts'
import type { MediaTarget, MediaUploads } from '../../files/network-media.ts'
import { findUploads, type Upload } from '../../files/uploads.ts'
import type { ClaimedMessage } from './outbox.sql.ts'

/** The uploads that a send request names, and what is wrong with them. The request may be invalid. */
export async function checkUploads(
  db: Db,
  workspaceId: string,
  request: unknown,
  now: Date,
): Promise<{ uploads: string[]; errors: FieldError[] }> {
  const references = mediaReferences(request)
  if (references.length === 0) return { uploads: [], errors: [] }
  const ids = references.flatMap(({ id }) => withoutPrefix('med', id) ?? [])
  const found = await findUploads(db, workspaceId, ids)
  const errors = references.flatMap((reference) =>
    errorOf(reference, found.get(withoutPrefix('med', reference.id) ?? ''), now),
  )
  return { uploads: [...new Set(ids)], errors }
}

function errorOf({ param, kind }: MediaReference, upload: Upload | undefined, now: Date): FieldError[] {
  if (!upload) {
    return [{ param, code: 'not_found', message: 'File not found. Upload it with POST /v1/media.' }]
  }
  if (upload.expiresAt <= now) {
    const message = `The file expired at ${upload.expiresAt.toISOString()}. Upload it again.`
    return [{ param, code: 'expired', message }]
  }
  const why = whyNotOfKind(kind, upload)
  return why === null ? [] : [{ param, code: 'unsupported_file', message: why }]
}

/** How long a message that is about to be sent waits for an upload. Short: it takes a place of its number. */
const waitMs = 500
/** When a message whose file is still being uploaded is looked at again. */
const lookAgainMs = 2_000
/** The file is uploaded again at most this often for a message. */
const maxUploadsAgain = 2

export type PreparedMedia =
  /** The network's IDs by ours. */
  | { kind: 'ready'; networkIds: ReadonlyMap<string, string> }
  | { kind: 'wait'; afterMs: number }
  | { kind: 'not_sent'; decision: SendDecision }

/** For a message without files. */
export const noMedia: PreparedMedia = { kind: 'ready', networkIds: new Map() }

/** Makes sure that the network has the files of a message. */
export async function prepareMedia(
  media: MediaUploads,
  claimed: ClaimedMessage,
  access: GraphAccess,
): Promise<PreparedMedia> {
  const { uploads = [] } = claimed.content
  const outcomes = await Promise.all(uploads.map((fileId) => media.find(targetOf(claimed, access, fileId), waitMs)))
  const networkIds = new Map<string, string>()
  for (const [index, outcome] of outcomes.entries()) {
    if (outcome.kind === 'uploading') return { kind: 'wait', afterMs: lookAgainMs }
    if (outcome.kind === 'expired') return { kind: 'not_sent', decision: expired }
    if (outcome.kind !== 'ready') return { kind: 'not_sent', decision: decisionOf(outcome, claimed.attempts + 1) }
    networkIds.set(withPrefix('med', uploads[index] ?? ''), outcome.mediaId)
  }
  return { kind: 'ready', networkIds }
}

/**
 * If the network refused a message because it does not know a file any more, forgets that file and sends the message again.
 * Otherwise the decision stays. The error does not say which parameter is wrong, so this asks for the files.
 */
export async function decideAgain(
  media: MediaUploads,
  claimed: ClaimedMessage,
  access: GraphAccess,
  networkIds: ReadonlyMap<string, string>,
  decision: SendDecision,
): Promise<SendDecision> {
  const isInvalid = decision.kind === 'failed' && decision.error.code === 100
  if (!isInvalid || claimed.attempts >= maxUploadsAgain) return decision
  const forgotten = await Promise.all(
    [...networkIds].map(([id, mediaId]) =>
      media.forgetIfUnknown(targetOf(claimed, access, withoutPrefix('med', id) ?? ''), mediaId),
    ),
  )
  if (!forgotten.includes(true)) return decision
  return { kind: 'retry', afterMs: 0, scope: 'message', error: decision.error, holdMs: () => 0 }
}

const targetOf = (
  { workspaceId, senderId, phoneNumberId }: ClaimedMessage,
  access: GraphAccess,
  fileId: string,
): MediaTarget => ({ workspaceId, senderId, phoneNumberId, access, fileId })

/** Like a send request that failed, but an upload can always be repeated: no one receives it. */
function decisionOf(failure: CallFailure, attempt: number): SendDecision {
  const repeatable = failure.kind === 'unknown' ? ({ kind: 'unreachable', why: failure.why } as const) : failure
  const decision = classifySendOutcome(repeatable, attempt)
  // Only this upload is known to fail without a response.
  return failure.kind === 'unknown' && decision.kind === 'retry'
    ? { ...decision, scope: 'message', holdMs: () => 0 }
    : decision
}

const expired: SendDecision = {
  kind: 'failed',
  scope: 'message',
  error: {
    code: 'file_expired',
    title: 'File expired',
    message: 'The uploaded file expired before the message was sent.',
    details: null,
  },
  holdMs: () => 0,
}
