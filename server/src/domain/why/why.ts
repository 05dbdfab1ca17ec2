/**
 * Why something did not arrive: walks the way of a message, an event, a number or a person, and says for each station whether it
 * is as it should be. The doctor uses the same checks.
 */
import type { MessageDetail } from '@parley/contract/console/messages'
import type { WhyReport } from '@parley/contract/console/why'
import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { withoutPrefix } from '../../lib/ids.ts'
import { requireConnection } from '../connections/connections.ts'
import { getContact } from '../contacts/contacts.ts'
import { checkParked, checkUnknownNumbers } from '../health/accounts.ts'
import { dubious, fine, type Station, stationOf, waiting } from '../health/station.ts'
import { readTimeline } from '../messages/reading/timeline.ts'
import { pacedUntil } from '../messages/sending/outbox.ts'
import { sendersNamed } from '../senders/senders.ts'
import { holdsOf, receivers, type WhyDeps, walkAccount } from './account.ts'
import { eventStations } from './events.ts'
import { lastMessageTo, locate, type Subject } from './locate.ts'
import { lacksStatus, sentStations } from './sent.ts'

export { locate, type Subject, type WhyDeps }

export interface Report {
  about: WhyReport['about']
  /** The worst of all stations. */
  verdict: WhyReport['verdict']
  conclusion: string
  remedy: string | null
  consoleRemedy: string | null
  stations: Station[]
  unseen: string[]
}

export async function explain(deps: WhyDeps, workspaceId: string, subject: Subject): Promise<Report> {
  const { kind, id } = subject
  return concluded({ kind, id }, await stationsOf(deps, workspaceId, subject), unseenOf[kind])
}

/** For an operator: what is known about a number that no workspace has. `db` must see all workspaces. */
export async function explainUnknown(db: Db, clock: Clock, number: string): Promise<Report> {
  const stations = [
    dubious('number', `No workspace has a sender, a message or an event "${number}".`, {
      remedy: 'Check the number. "./parley connection list" lists the connected accounts.',
    }),
    stationOf(await checkUnknownNumbers(db, clock)),
    stationOf(await checkParked(db, clock)),
  ]
  // The number itself is only a cause if nothing else explains it.
  const [first, ...others] = stations
  const sorted = others.some(({ verdict }) => verdict !== 'ok') ? [...others, ...(first ? [first] : [])] : stations
  return concluded({ kind: 'number', id: number }, sorted, unseenOf.sender)
}

async function stationsOf(deps: WhyDeps, workspaceId: string, subject: Subject): Promise<Station[]> {
  const { clock } = deps
  switch (subject.kind) {
    case 'message':
      return messageStations(deps, workspaceId, subject.id)
    case 'event': {
      const { event } = subject
      const got = new Set(event.deliveries.map((each) => withoutPrefix('whk', each.webhook_id) ?? ''))
      const others = await receivers(deps, workspaceId, event.type, event.senderId, got)
      return [...eventStations([event], clock.now()), ...others]
    }
    case 'account':
      return walkAccount(deps, workspaceId, subject.connection, null)
    case 'sender':
      return senderStations(deps, workspaceId, subject.sender.id)
    case 'contact':
      return contactStations(deps, workspaceId, subject.id)
  }
}

async function senderStations(deps: WhyDeps, workspaceId: string, uuid: string): Promise<Station[]> {
  const [sender] = await sendersNamed(deps.db, workspaceId, uuid)
  if (!sender) return []
  return walkAccount(deps, workspaceId, await requireConnection(deps.db, sender.connection_id), sender)
}

async function messageStations(deps: WhyDeps, workspaceId: string, id: string): Promise<Station[]> {
  const { db, clock, role } = deps
  const now = clock.now()
  const message = await readTimeline(db, workspaceId, role, id)
  const senderId = withoutPrefix('snd', message.sender.id) ?? ''
  const [sender] = await sendersNamed(db, workspaceId, senderId)
  const way =
    message.direction === 'received' || message.source !== null
      ? [receivedStation(message)]
      : sentStations(message, {
          now,
          holds: await holdsOf(deps, [senderId, sender?.connection_id ?? '', sender?.app_id ?? '']),
          pacedUntil: await pacedUntil(db, senderId),
        })
  const events = message.events ?? []
  const type = message.direction === 'received' ? 'message.received' : `message.${message.status}`
  const isUnheard = events.length > 0 && events.every(({ deliveries }) => deliveries.length === 0)
  const receiving = isUnheard ? await receivers(deps, workspaceId, type, senderId) : []
  // A workspace without webhooks, which has one line, may read the events of its own messages or not need them.
  const isWanted = receiving.length > 1 || message.direction === 'received'
  return [
    ...way,
    ...eventStations(events, now),
    ...(isWanted ? receiving : []),
    ...(lacksStatus(message, now) ? await senderStations(deps, workspaceId, senderId) : []),
  ]
}

function receivedStation({ at, received, source }: MessageDetail): Station {
  if (source !== null) return fine('received', 'The business wrote this message elsewhere.', { at: new Date(at) })
  if (!received?.standby) return fine('received', 'The message arrived.', { at: new Date(at) })
  const text = 'The message arrived while another app or an agent handles the conversation.'
  return fine('received', text, { at: new Date(at) })
}

async function contactStations(deps: WhyDeps, workspaceId: string, id: string): Promise<Station[]> {
  const { db } = deps
  const contact = await getContact(db, workspaceId, id)
  const stations: Station[] = []
  for (const { window_expires_at: window, marketing, control, phone_number: number } of contact.senders.slice(0, 1)) {
    const isOpen = window !== null && new Date(window) > deps.clock.now()
    const text = isOpen
      ? `They wrote to ${number} within 24 hours: WhatsApp accepts any message.`
      : `They have not written to ${number} for 24 hours: WhatsApp accepts only templates.`
    stations.push(fine('window', text, { at: window === null ? null : new Date(window) }))
    if (marketing?.choice === 'stop') {
      const remedy = 'Send them no marketing messages. They can turn these on again in the chat.'
      stations.push(dubious('marketing', 'They have turned off marketing messages of this number.', { remedy }))
    }
    if (control)
      stations.push(
        waiting('control', 'Another app or an agent has handled this conversation.', { at: new Date(control.at) }),
      )
  }
  const last = await lastMessageTo(db, workspaceId, id, deps.clock.now())
  if (last) stations.push(...(await messageStations(deps, workspaceId, last)))
  const sender = withoutPrefix('snd', contact.senders[0]?.id ?? '')
  const isWalked = stations.some(({ station }) => station === 'account')
  return sender && !isWalked ? [...stations, ...(await senderStations(deps, workspaceId, sender))] : stations
}

const phoneIsOff = 'Whether the recipient’s phone is on and connected, and whether they have blocked the number.'
const notWritten = 'Whether the person really wrote to this number.'
const developmentMode = 'Whether the app is in development mode. Then Meta does not send all webhooks.'
const receiverWork = 'What the receiver did with an event after it returned a 2xx status.'

const unseenOf: Readonly<Record<Subject['kind'], string[]>> = {
  message: [phoneIsOff, receiverWork],
  event: [receiverWork],
  sender: [notWritten, developmentMode, receiverWork],
  account: [developmentMode],
  contact: [phoneIsOff, notWritten, developmentMode],
}

function concluded(about: Report['about'], stations: Station[], unseen: string[]): Report {
  const first = (verdict: Station['verdict']) => stations.find((each) => each.verdict === verdict)
  const likely = stations.find(({ verdict, isAdvice }) => verdict === 'warning' && !isAdvice)
  const cause = first('problem') ?? likely ?? first('warning')
  if (cause) {
    const { verdict, message, remedy, consoleRemedy } = cause
    return { about, verdict, conclusion: message, remedy, consoleRemedy, stations, unseen: [] }
  }
  const open = first('waiting')
  const unchecked = first('unknown') ? ' Some stations could not be checked.' : ''
  const conclusion = `Nothing is wrong.${open ? ` ${open.message}` : ''}${unchecked}`
  const verdict = first('unknown') ? 'unknown' : open ? 'waiting' : 'ok'
  return { about, verdict, conclusion, remedy: null, consoleRemedy: null, stations, unseen }
}
