import type { FlowSubmission } from '@parley/contract/events'
import type { Db } from '../../db/db.ts'
import { newUuid, withPrefix } from '../../lib/ids.ts'
import type { FormSubmission } from '../../whatsapp/incoming-form.ts'
import { expectFiles } from '../files/files.ts'
import { insertResponses, type Traced } from './flows.sql.ts'

export { insertToken as keepFormToken } from './flows.sql.ts'

/** A form that came in, with the message it came as. */
export interface Submission {
  workspaceId: string
  senderId: string
  messageId: string
  from: string | null
  fromUserId: string | null
  /** The message that it quotes, if we sent that. */
  quoted: { id: string; templateId: string | null } | null
  receivedAt: Date
  form: FormSubmission
}

/** Keeps submitted forms and gives the data of `flow.completed` for each, in their order. */
export async function saveSubmissions(
  db: Db,
  now: Date,
  submissions: readonly Submission[],
): Promise<{ workspaceId: string; data: FlowSubmission }[]> {
  if (submissions.length === 0) return []
  const rows = submissions.map((submission) => toRow(submission, now))
  const traced = new Map((await insertResponses(db, rows, now)).map((row) => [row.id, row]))
  const forms = submissions.map(({ workspaceId, senderId, form }, index) => {
    return { workspaceId, senderId, responseId: rows[index]?.id ?? '', files: form.files }
  })
  await expectFiles(db, now, forms)
  for (const workspaceId of new Set(forms.map((form) => form.workspaceId))) db.notify(workspaceId, 'forms')
  return submissions.flatMap((submission, index) => {
    const found = traced.get(rows[index]?.id ?? '')
    return found ? [{ workspaceId: submission.workspaceId, data: toData(submission, found) }] : []
  })
}

/** What could not be read as an object is told as it came, under the network's own name for it. */
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

const toData = (submission: Submission, { id, flowToken, flowId, sourceMessageId, templateId }: Traced) => ({
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
