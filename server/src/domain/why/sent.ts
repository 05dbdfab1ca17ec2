/** The way of a message that we send, up to WhatsApp's statuses. Decides only: nothing is read here. */
import type { MessageDetail } from '@parley/contract/console/messages'
import { formatDuration, formatTime } from '../../lib/format.ts'
import { findError, isStaleTemplate } from '../../whatsapp/graph/errors.ts'
import { explainError } from '../../whatsapp/graph/explain-error.ts'
import { count } from '../health/finding.ts'
import { dubious, fine, type Station, waiting, wrong } from '../health/station.ts'
import { noWorker } from '../health/traffic.ts'
import { statusLateMs } from '../messages/reading/last-webhooks.ts'
import type { ActiveHold } from '../messages/sending/outbox.ts'

export interface SendFacts {
  now: Date
  /** Of the sender, its connection and its app. */
  holds: readonly ActiveHold[]
  /** Until when the sender has used its pace. Null if it has not sent yet. */
  pacedUntil: Date | null
}

export const sentStations = (message: MessageDetail, facts: SendFacts): Station[] =>
  [
    acceptedStation(message),
    paidStation(message),
    templateStation(message),
    windowStation(message, facts),
    queueStation(message, facts),
    networkStation(message),
    statusStations(message, facts),
  ].flat()

function acceptedStation({ at, author }: MessageDetail): Station {
  const by = author?.kind === 'key' ? ` from the API key "${author.name}"` : author ? ` from ${author.name}` : ''
  return fine('accepted', `Parley accepted the message${by}.`, { at: new Date(at) })
}

function paidStation({ credits }: MessageDetail): Station | Station[] {
  if (!credits) return []
  if (credits.spent === 0) return fine('paid', 'The message costs no credits.')
  const refund = credits.refunded > 0 ? ', and refunded because the message failed' : ''
  return fine('paid', `${count(credits.spent, 'credit')} paid${refund}.`)
}

const templateErrors: Readonly<Record<string, number>> = { PAUSED: 132015, DISABLED: 132016 }

/** The state of the template now explains a message that still waits, and one that failed because of it. */
function templateStation({ template, outbox, explained }: MessageDetail): Station | Station[] {
  if (!template || template.status === 'APPROVED' || !(outbox || isStaleTemplate(explained?.code))) return []
  const { cause, fix } = explainError({ code: templateErrors[template.status] ?? 132001 })
  const name = `The template ${template.name} (${template.language}) is ${template.status}.`
  return wrong('template', `${name} ${cause}`, { remedy: fix })
}

function windowStation(
  { outbox, type, window_expires_at, group_id }: MessageDetail,
  { now }: SendFacts,
): Station | Station[] {
  if (!outbox || type === 'template' || group_id !== null) return []
  if (window_expires_at !== null && new Date(window_expires_at) > now) return []
  const { cause, fix } = explainError({ code: 131047 })
  return dubious('window', cause, { remedy: fix })
}

/** A worker that runs moves the pace of a number with due messages at least this often. */
const workingMs = 60_000

function queueStation({ outbox }: MessageDetail, { now, holds, pacedUntil }: SendFacts): Station | Station[] {
  if (!outbox) return []
  const { state, attempts, last_error: error } = outbox
  const at = new Date(outbox.due_at)
  const lateMs = now.getTime() - at.getTime()
  if (state === 'claimed' || state === 'calling') return waiting('queue', 'The message is being sent now.')
  if (state === 'unknown') {
    const text = `The connection to WhatsApp broke during the request. If no status arrives until ${formatTime(at)}, the message fails and is refunded.`
    return waiting('queue', text)
  }
  if (state === 'expired') return failure('queue', explainError({ code: 'expired' }))
  const hold = holds.at(-1)
  if (hold) {
    const { cause, fix } = explainError(hold)
    const text = `Sending is on hold until ${formatTime(hold.until)}. ${cause}`
    const details = [`${hold.title ?? 'Error'} (${hold.code})`]
    return (findError(hold).temporary ? waiting : wrong)('queue', text, { remedy: fix, details })
  }
  if (lateMs < 0 && error) {
    const text = `${count(attempts, 'attempt')} failed: ${error.title} (${error.code}). The next one is planned.`
    return waiting('queue', text, { at })
  }
  if (lateMs < 0) {
    return waiting('queue', 'WhatsApp limits how fast a number may send to one person. The message waits.', { at })
  }
  const isWorking = pacedUntil !== null && now.getTime() - pacedUntil.getTime() < workingMs
  if (lateMs < workingMs || isWorking) {
    return waiting('queue', 'The message waits for its turn: the number sends as fast as WhatsApp allows.')
  }
  return wrong('queue', `The message is due for ${formatDuration(lateMs)}, and no process sends it.`, {
    remedy: noWorker,
  })
}

const failure = (
  station: string,
  { cause, fix }: { cause: string; fix: string },
  parts: { at?: Date | null; details?: string[] } = {},
): Station => wrong(station, cause, { remedy: fix, ...parts })

function networkStation(message: MessageDetail): Station | Station[] {
  const { wa_message_id: id, explained, status } = message
  if (id !== null) {
    return fine('WhatsApp', 'WhatsApp accepted the message.', { at: timeOf(message, 'sent'), details: [id] })
  }
  if (status !== 'failed' || !explained) return []
  return failure('WhatsApp', explained, { at: timeOf(message, 'failed'), details: [errorLine(explained)] })
}

const errorLine = ({ title, code, details, message }: NonNullable<MessageDetail['explained']>): string =>
  `${title} (${code})${details || message ? `: ${details || message}` : ''}`

const timeOf = ({ steps }: MessageDetail, status: string): Date | null => {
  const step = steps.find((each) => each.status === status)
  return step ? new Date(step.at) : null
}

/** Whether a webhook brought a status. The response to the request brings `sent` too, but no price. */
export const hasStatus = ({ status, pricing }: MessageDetail): boolean =>
  ['delivered', 'read', 'failed'].includes(status) || pricing !== null

/** Whether WhatsApp accepted the message and webhooks should have brought a status by now. */
export const lacksStatus = (message: MessageDetail, now: Date): boolean =>
  message.direction === 'sent' &&
  message.wa_message_id !== null &&
  message.source === null &&
  !hasStatus(message) &&
  now.getTime() - (timeOf(message, 'sent') ?? new Date(message.at)).getTime() >= statusLateMs

function statusStations(message: MessageDetail, { now }: SendFacts): Station | Station[] {
  if (message.wa_message_id === null) return []
  const { explained, status } = message
  const reached = (['delivered', 'read'] as const).flatMap((each) => {
    const at = timeOf(message, each)
    return at ? [fine(each, `WhatsApp reports the message as ${each}.`, { at })] : []
  })
  if (status === 'failed' && explained) {
    return [
      ...reached,
      failure('failed', explained, { at: timeOf(message, 'failed'), details: [errorLine(explained)] }),
    ]
  }
  if (reached.length > 0) return reached
  if (lacksStatus(message, now)) {
    const text =
      'No status has arrived for this message. WhatsApp’s webhooks may not reach Parley: see the lines below.'
    return dubious('status', text, { remedy: 'Check how the webhooks of this sender arrive.' })
  }
  if (!hasStatus(message)) return waiting('status', 'WhatsApp has not sent a status yet.')
  return waiting('delivered', 'WhatsApp has not delivered the message yet. It tries for up to 30 days.')
}
