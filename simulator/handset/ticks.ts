import type { Message } from './api.ts'
import { el } from './dom.ts'
import { type IconName, icon } from './icons.ts'

type Look = [name: string, icon: IconName, tone?: 'read' | 'failed']

/** How far a message has come. One tick: the network has it. Two: the other side has it. Coloured: it was seen. */
export function ticks(message: Message): HTMLElement {
  const [name, drawing, tone] = lookOf(message)
  const side = message.direction === 'out' ? `The business sees: ${name.toLowerCase()}` : name
  return el('span', { class: `ticks ${tone ?? ''}`, role: 'img', 'aria-label': name, title: side }, icon(drawing, 16))
}

export const waitingTick = (): HTMLElement =>
  el('span', { class: 'ticks', role: 'img', 'aria-label': 'Waiting for a connection' }, icon('clock', 14))

function lookOf({ direction, journey, receipt }: Message): Look {
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
  131036: 'Lost after it was sent.',
  131042: 'The business has not paid.',
  131047: 'More than 24 hours since this person last wrote: only templates get through.',
  131049: 'Held back, so that people do not get too much marketing.',
  131050: 'This person stopped marketing messages.',
  131053: 'The file could not be fetched or is not what it claims to be.',
  132015: 'The template is paused.',
}

/** Why a message failed, or nothing. */
export function failureOf({ journey }: Message): string | undefined {
  if (journey?.state !== 'failed') return undefined
  const { code } = journey.history.findLast(({ status }) => status === 'failed') ?? {}
  return `${reasons[code ?? 0] ?? 'The network gave up on it.'} (${code ?? 'no code'})`
}
