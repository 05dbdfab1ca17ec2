import { isObject, type Json } from '../json.ts'
import type { Network } from '../network.ts'
import { ControlError } from '../shape.ts'
import type { Message } from '../world.ts'

const editMs = 15 * 60_000
const deleteMs = 2 * 86_400_000
const editableTypes = ['text', 'image', 'video', 'document']

/** The object of the webhook, and what to do once the webhook is queued. */
interface Amendment {
  webhook: Json
  record: () => void
}

export const isDeletable = ({ type, amends, deletedAt }: Message): boolean =>
  type !== 'reaction' && amends === undefined && deletedAt === undefined

export const isEditable = (message: Message): boolean => isDeletable(message) && editableTypes.includes(message.type)

/** Replaces the text of a message, or the caption of its file. */
export function editOf(network: Network, message: Message, text: string): Amendment {
  requireAge(network, message, editMs, 'edited for 15 minutes')
  const { type, contextId, content: before } = message
  const content = { ...(isObject(before) ? before : {}), [type === 'text' ? 'body' : 'caption']: text }
  const context = contextId === null ? {} : { context: { id: contextId } }
  return {
    webhook: { original_message_id: message.id, message: { ...context, type, [type]: content } },
    record() {
      message.edits = [...(message.edits ?? []), { content: before, at: network.timers.now().toISOString() }]
      message.content = content
      publish(network, message)
    },
  }
}

export function deletionOf(network: Network, message: Message): Amendment {
  requireAge(network, message, deleteMs, 'deleted for two days')
  return {
    webhook: { original_message_id: message.id },
    record() {
      message.deletedAt = network.timers.now().toISOString()
      publish(network, message)
    },
  }
}

function requireAge(network: Network, message: Message, maxMs: number, rule: string): void {
  if (network.timers.now().getTime() - new Date(message.at).getTime() > maxMs)
    throw new ControlError(`message: ${message.id} is too old. A message can be ${rule}.`, 'message', 409)
}

function publish(network: Network, message: Message): void {
  network.log.publish({ name: 'change', data: message })
  network.changed()
}
