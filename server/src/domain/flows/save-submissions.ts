import type { FlowSubmission } from '@parley/contract/events'
import type { Db } from '../../db/db.ts'
import { newUuid, withPrefix } from '../../lib/ids.ts'
import type { FormSubmission } from '../../whatsapp/incoming/form.ts'
import { saveFormFiles } from '../files/files.ts'
import { insertResponses, type SubmissionSource } from './flows.sql.ts'

export { type FormToken, saveFormTokens } from './flows.sql.ts'

/** A submitted form, with the message it arrived as. */
export interface Submission {
  workspaceId: string
  senderId: string
  messageId: string
  from: string | null
  fromUserId: string | null
  /** The message that it quotes, if we sent it. */
  quoted: { id: string; templateId: string | null } | null
  receivedAt: Date
  form: FormSubmission
}

/** Stores submitted forms and returns the data of a `flow.completed` event for each, in order. */
export async function saveSubmissions(
  db: Db,
  now: Date,
  submissions: readonly Submission[],
): Promise<{ workspaceId: string; senderId: string; data: FlowSubmission }[]> {
  if (submissions.length === 0) return []
  const rows = submissions.map((submission) => toRow(submission, now))
  const sources = new Map((await insertResponses(db, { submitted: rows, now })).map((row) => [row.id, row]))
  const forms = submissions.map(({ workspaceId, senderId, form }, index) => {
    return { workspaceId, senderId, responseId: rows[index]?.id ?? '', files: form.files }
  })
  await saveFormFiles(db, now, forms)
  for (const workspaceId of new Set(forms.map((form) => form.workspaceId))) db.notify(workspaceId, 'forms')
  return submissions.flatMap((submission, index) => {
    const source = sources.get(rows[index]?.id ?? '')
    const { workspaceId, senderId } = submission
    return source ? [{ workspaceId, senderId, data: toData(submission, source) }] : []
  })
}

/** The answers of the form. If they are not a JSON object, the raw text, under the network's name for it. */
const answersIn = ({ raw, response }: FormSubmission): Record<string, unknown> =>
  raw === null ? response : { response_json: raw }

const toRow = (submission: Submission, now: Date) => ({
  id: newUuid(now.getTime()),
  workspaceId: submission.workspaceId,
  messageId: submission.messageId,
  senderId: submission.senderId,
  sentBy: submission.from,
  sentByUserId: submission.fromUserId,
  name: submission.form.name,
  flowToken: submission.form.flowToken,
  quotedMessageId: submission.quoted?.id ?? null,
  quotedTemplateId: submission.quoted?.templateId ?? null,
  response: answersIn(submission.form),
  receivedAt: submission.receivedAt,
})

const toData = (submission: Submission, { id, flowToken, flowId, sourceMessageId, templateId }: SubmissionSource) => ({
  id: withPrefix('frs', id),
  message_id: withPrefix('msg', submission.messageId),
  from: submission.from,
  from_user_id: submission.fromUserId,
  flow_token: flowToken,
  flow_id: flowId,
  source_message_id: sourceMessageId && withPrefix('msg', sourceMessageId),
  template_id: templateId && withPrefix('tpl', templateId),
  response: answersIn(submission.form),
  files: submission.form.files.map(({ field, index, file_name, mime_type }) => ({
    field,
    index,
    file_name,
    mime_type,
  })),
  received_at: submission.receivedAt.toISOString(),
})
