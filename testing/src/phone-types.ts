import type { Scenario } from './scenario.ts'

export interface PlayOptions {
  /** WhatsApp posts each update of this phone twice. */
  duplicates?: boolean
  /** WhatsApp posts updates of this phone in another order. Your replies to consecutive messages may then be in any order. */
  reorder?: boolean
  /** Moves the clock as in the conversation. Default: no delays. */
  delays?: boolean
  /** With `delays`: 10 makes each delay a tenth. */
  speed?: number
  /** The sender that the person writes to, by phone number. Default: the one of the latest message, or the first. */
  to?: string
  /** How long to wait for each message of your business. Default: ten seconds. */
  withinMs?: number
}

/** A message of your business, as the phone shows it. */
export interface PhoneMessage {
  /** WhatsApp's ID of the message. */
  id: string
  type: string
  /** What a person reads: the text, the body of a template or of an interactive message, or the caption. */
  text: string | null
  /** The labels of the buttons and list rows that can be tapped. */
  buttons: string[]
  /** The ID of the message that it replies to. */
  replyTo: string | null
  /** The object under the name of the type, as your business sent it. */
  content: Record<string, unknown>
}

/** Options of a new message. */
export interface WriteOptions {
  /** The sender that the person writes to, by phone number. Default: the one of the latest message, or the first. */
  to?: string
  /** WhatsApp's ID of the message that it replies to. */
  replyTo?: string
}

/** A simulated person. Any number works. */
export interface Phone {
  readonly number: string
  /** Writes a text. Returns WhatsApp's ID of the message. */
  write(text: string, options?: WriteOptions): Promise<string>
  /** Taps a button or chooses a list row of the latest message that has it, by label, ID or index. */
  tap(button: string | number, options?: { message?: string }): Promise<string>
  /** Submits the latest form with these values. */
  fill(values: Record<string, unknown>, options?: { message?: string }): Promise<string>
  sendImage(bytes: Uint8Array, options?: WriteOptions & { caption?: string; mimeType?: string }): Promise<string>
  /** Any other action of the simulator, such as `location`, `react`, `edit` or `delete`. */
  act(action: string, input?: Record<string, unknown>): Promise<string>
  /** The next message that arrives on the phone. Waits for it, for ten seconds by default. */
  received(options?: { withinMs?: number }): Promise<PhoneMessage>
  /** All messages that the phone shows, oldest first, without waiting. */
  messages(): Promise<PhoneMessage[]>
  /** Messages to this phone fail with this code of WhatsApp. Null: they are delivered again. */
  fail(code: string | number | null): Promise<void>
  goOffline(): Promise<void>
  goOnline(): Promise<void>
  /**
   * Plays a recorded conversation: does what the person did, and waits for what your business is expected to send. Fails
   * with the difference.
   */
  play(scenario: string | Scenario, options?: PlayOptions): Promise<void>
}
