import type { EventType } from '@parley/contract/events'
import type { Message } from '@parley/contract/message'
import type { Sender } from '@parley/contract/sender'
import type { Template } from '@parley/contract/template'
import type { EventFeed } from './event-feed.ts'

/** A workspace, as commands use it: in the database, or through the API with a key. */
export interface Source {
  /** Which workspace it is, for people. */
  title(): Promise<string>
  /** Whether the service runs, so that it sends messages now. */
  isServing: boolean
  /** The simulated phone for first messages, if it is known. */
  demoPhone(): string | null
  senders(): Promise<Sender[]>
  /** All templates, or those with a name. */
  templates(name?: string): Promise<Template[]>
  /** Fails before anything is sent if the message could not be read later. */
  checkReading(): Promise<void>
  send(body: Record<string, unknown>, keys?: SendKeys): Promise<{ message: Message; replayed: boolean }>
  /** How often the status may be read: requests of a key are limited. */
  pollMs: number
  status(messageId: string): Promise<MessageStatus>
  /** Whether WhatsApp would deliver only a template now. False if it is not known. */
  isWindowClosed(message: Message): Promise<boolean>
  /** `signal` ends a read that waits for an event. */
  openFeed(signal: AbortSignal): Promise<EventFeed>
  /** What the signing secret of `listen` is made of. */
  secretParts(): Promise<{ key: Buffer; workspaceId: string }>
  /** A function that makes an event of the type happen and says what it did; null if nothing can. */
  makerOf(type: EventType): Promise<(() => Promise<string>) | null>
  /** Sends an example of the type to every webhook that receives it. */
  sendTestEvents(type: EventType): Promise<{ webhook_id: string; event_id: string }[]>
}

export interface SendKeys {
  idempotencyKey?: string | undefined
  /** The ID of the API key that the message belongs to. */
  keyId?: string | undefined
}

export interface MessageStatus {
  status: string
  error: string | null
  explained: { code: number | string; fix: string } | null
}
