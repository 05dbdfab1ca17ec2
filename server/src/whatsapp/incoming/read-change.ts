/** The readers of changes about the account itself. */
import { readTime } from '../read-json.ts'
import { type Notice, notice, type TemplateChange, templateChange } from './change.ts'
import { noticeEffect } from './notice-effect.ts'
import type { Change } from './unread.ts'

/** The reader of a field about templates. A change without an account cannot be read. */
export const templateReader =
  (change: TemplateChange['change']) =>
  ({ value, wabaId, time, now, unread }: Change): TemplateChange[] => {
    if (wabaId === null) return []
    const item = templateChange(change, value, wabaId, readTime(time) ?? now)
    if (item.networkTemplateId === null && item.name === null) unread.push('message_template_id')
    if (change === 'status' && item.status === null) unread.push('event')
    return [item]
  }

/** The reader of a field with notices. */
export const noticeReader =
  (about: Notice['about']) =>
  ({ field, value, wabaId, time, now, unread }: Change): Notice[] => {
    if (wabaId === null) return []
    const item = notice(about, field, value, wabaId, readTime(time) ?? now)
    const effect = noticeEffect(item)
    if (effect === null || (effect.about === 'number' && effect.number === null)) unread.push('event')
    return [item]
  }
