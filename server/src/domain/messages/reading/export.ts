import type { MessageFilters } from '@parley/contract/console/messages'
import type { Db } from '../../../db/db.ts'
import { exportNewestFirst } from '../../../lib/csv-export.ts'
import { listConsoleMessages, markOf, toListed } from './console-list.ts'

/** The list of messages as CSV. The text is the preview of the list. */
export const exportMessages = (db: Db, workspaceId: string, filters: MessageFilters): AsyncIterable<string> =>
  exportNewestFirst({
    head: [
      ...['time', 'id', 'direction', 'status', 'type', 'phone', 'user_id', 'name', 'sender_id', 'template', 'text'],
      ...['reference', 'error'],
    ],
    rows: (page) => listConsoleMessages(db, workspaceId, filters, page),
    positionOf: markOf,
    toLines(row) {
      const message = toListed(row)
      const { at, id, direction, status, type, phone, user_id, profile_name, sender_id, template_name } = message
      const who = [phone, user_id, profile_name, sender_id]
      return [
        [at, id, direction, status, type, ...who, template_name, message.preview, message.reference, message.error],
      ]
    },
  })
