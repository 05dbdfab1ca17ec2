import { connect } from 'node:net'
import { load } from '../lib/load.ts'
import { isLoopback } from './addresses.ts'
import type { MailSettings } from './mail-settings.ts'

/** A mail server that says nothing for this long is given up. */
const defaultSilenceMs = 10_000

/** How long sending one email may take, even if the server sends a byte now and then. */
const deadlineMs = 30_000

export interface OutgoingMail {
  /** The same for every attempt, so that the recipient's mail program can recognize a repetition. */
  id: string
  recipient: string
  subject: string
  text: string
  html: string
}

export class MailError extends Error {
  override readonly name = 'MailError'
  /** The server will never accept it: the address does not exist, for example. */
  readonly isPermanent: boolean

  constructor(message: string, isPermanent: boolean) {
    super(message)
    this.isPermanent = isPermanent
  }
}

/** Sends an email. Throws a MailError if the server does not accept it. */
export function sendBySmtp(settings: MailSettings, mail: OutgoingMail, signal: AbortSignal): Promise<void> {
  const { id, recipient, subject, text, html } = mail
  const { from } = settings
  return withTransport(settings, signal, (transport) =>
    transport.sendMail({
      messageId: `<${id}@${from.address.split('@')[1]}>`,
      from,
      // As objects: a text would be parsed as a list of addresses.
      to: { name: '', address: recipient },
      envelope: { from, to: { name: '', address: recipient } },
      subject,
      text,
      html,
      headers: { 'Auto-Submitted': 'auto-generated' },
    }),
  )
}

/** Connects and signs in to the mail server. Throws a MailError if that fails. */
export const checkSmtp = (settings: MailSettings): Promise<void> =>
  withTransport(settings, new AbortController().signal, (transport) => transport.verify())

async function withTransport(
  settings: MailSettings,
  stopped: AbortSignal,
  use: (transport: ReturnType<typeof newTransport>) => Promise<unknown>,
): Promise<void> {
  const signal = AbortSignal.any([stopped, AbortSignal.timeout(deadlineMs)])
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('The mail server took too long.')), { once: true })
  })
  const transport = newTransport(settings, signal)
  try {
    await Promise.race([use(transport), aborted])
  } catch (error) {
    throw toMailError(error as SmtpError)
  } finally {
    transport.close()
  }
}

function newTransport(settings: MailSettings, signal: AbortSignal) {
  const { host, port, secure, credentials, silenceMs = defaultSilenceMs } = settings
  // Loaded on demand: most processes send no emails.
  const { createTransport } = load('nodemailer') as typeof import('nodemailer')
  return createTransport({
    host,
    port,
    secure,
    // A password is sent over an encrypted connection only, except to this machine.
    requireTLS: credentials !== null && !isLoopback(host),
    ...(credentials && { auth: { user: credentials.user, pass: credentials.password } }),
    connectionTimeout: silenceMs,
    greetingTimeout: silenceMs,
    socketTimeout: silenceMs,
    disableFileAccess: true,
    disableUrlAccess: true,
    getSocket(_options, callback) {
      const socket = connect({ host, port, signal, timeout: silenceMs })
      // The listener stays: while nodemailer begins TLS, it has none of its own.
      socket.on('error', () => {})
      socket.once('timeout', () => socket.destroy(new Error('The mail server does not respond.')))
      socket.once('error', callback)
      socket.once('connect', () => {
        socket.off('error', callback)
        callback(null, { connection: socket })
      })
    },
  })
}

/** `response` is the server's reply, which nodemailer adds to its own messages, sometimes twice. */
type SmtpError = Error & { code?: string; command?: string; responseCode?: number; response?: string }

/** A rejected recipient or message is rejected again. Everything else may be a setting or a failure that is repaired. */
function toMailError({ code, command, responseCode = 0, response, message }: SmtpError): MailError {
  const isRefused = (command === 'RCPT TO' || code === 'EMESSAGE') && responseCode >= 500
  const ownMessage = response && message.includes(response) ? message.slice(0, message.indexOf(response)) : ''
  // It is logged, and servers repeat the address.
  const text = (response ? ownMessage + plainStart(response) : message)
    .replace(/\s+/g, ' ')
    .replace(/[^\s<>"]+@[^\s<>"]+/g, '…')
    .slice(0, 300)
  return new MailError(text, isRefused || command === 'API')
}

/**
 * The beginning of a reply, up to the first word that is neither a status code nor an ordinary word. A server may quote the email
 * in it, encoded or in pieces, and an email may contain a one-time link.
 */
function plainStart(reply: string): string {
  const words = reply.trim().split(/\s+/)
  const end = words.findIndex((word) => !plainWord.test(word))
  return end < 0 ? words.join(' ') : [...words.slice(0, end), '…'].join(' ')
}

const plainWord = /^(?:(?:\d{3}[ -]?)?\d\.\d{1,3}\.\d{1,3}|\d{3}|(?:[A-Z]?[a-z]{1,14}|[A-Z]{1,6})[.,:;!]?)$/
