import type { FileSource } from '../../whatsapp/incoming/form.ts'

/** The file of an inbound message, to be fetched. */
export interface ReceivedFileRow {
  id: string
  workspaceId: string
  messageId: string
  senderId: string
  fileName: string
  mimeType: string
  source: FileSource
}

/** The columns of `ReceivedFileRow`, for the statement that stores the messages too. */
export const receivedFileColumns = {
  id: 'uuid',
  workspaceId: 'uuid',
  messageId: 'uuid',
  senderId: 'uuid',
  fileName: 'text',
  mimeType: 'text',
  source: 'json',
} as const

/** Whether the file of a message is stored or being fetched. */
export const hasReceivedFileSql = (messageId: string): string =>
  `exists (select from flow_files f where f.message_id = ${messageId})`

/** A CTE that inserts the files of those messages that are in the table `stored`. */
export const insertReceivedFilesSql = (
  files: string,
  stored: string,
  { now, tryUntil }: { now: string; tryUntil: string },
): string =>
  `received_files as (
     insert into flow_files (id, workspace_id, message_id, index, sender_id, field, file_name, mime_type, source, due_at,
       try_until, created_at)
     select files.id, files.workspace_id, files.message_id, 0, files.sender_id, 'media', files.file_name, files.mime_type,
       files.source, ${now}, ${tryUntil}, ${now}
     from ${files} join ${stored} as stored_message on stored_message.id = files.message_id)`
