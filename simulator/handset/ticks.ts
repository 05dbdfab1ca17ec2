import type { Message } from './api.ts'
import { el } from './dom.ts'
import { type IconName, icon } from './icons.ts'

type TickStyle = [name: string, icon: IconName, tone?: 'read' | 'failed']

/** The status of a message. One tick: the network has it. Two ticks: the recipient has it. Colored: it was read. */
export function ticks(message: Message): HTMLElement | null {
  // The network reports no status of what was written in the Business app.
  if (message.source === 'business_app' || message.deletedAt) return null
  const [name, drawing, tone] = styleOf(message)
  const side = message.direction === 'out' ? `Status reported to the business: ${name.toLowerCase()}` : name
  return el('span', { class: `ticks ${tone ?? ''}`, role: 'img', 'aria-label': name, title: side }, icon(drawing, 16))
}

export const waitingTick = (): HTMLElement =>
  el('span', { class: 'ticks', role: 'img', 'aria-label': 'Waiting for this phone to be online' }, icon('clock', 14))

function styleOf({ direction, journey, receipt }: Message): TickStyle {
  if (direction === 'in')
    return receipt === 'seen'
      ? ['Read', 'checks', 'read']
      : receipt === 'taken'
        ? ['Delivered', 'checks']
        : ['Sent', 'check']
  switch (journey?.state) {
    case 'sent':
      return ['Sent', 'check']
    case 'delivered':
      return ['Delivered', 'checks']
    case 'read':
      return ['Read', 'checks', 'read']
    case 'played':
      return ['Played', 'checks', 'read']
    case 'failed':
      return ['Failed', 'alert', 'failed']
    default:
      return ['Accepted', 'clock']
  }
}

const reasons: Record<number, string> = {
  130472: 'This number is part of an experiment.',
  131026: 'The message cannot be delivered to this number.',
  131036: 'The message could not be delivered to one of the person’s devices.',
  131042: 'There is a problem with the business’s payment method.',
  131047: 'More than 24 hours have passed since this person last wrote. Only templates are delivered.',
  131049: 'Not delivered: WhatsApp limits marketing messages per person.',
  131050: 'This person opted out of marketing messages.',
  131053: 'The file could not be fetched, or its type does not match.',
  132015: 'The template is paused.',
}

/** Why a message failed; undefined if it did not. */
export function failureOf({ journey }: Message): string | undefined {
  if (journey?.state !== 'failed') return undefined
  const { code } = journey.history.findLast(({ status }) => status === 'failed') ?? {}
  return `${reasons[code ?? 0] ?? 'The message failed.'} (${code ?? 'no code'})`
}
