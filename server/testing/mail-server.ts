import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'

export interface ReceivedMail {
  from: string
  to: string[]
  /** The headers and the body as they were sent. */
  raw: string
  subject: string
  /** All parts, decoded. */
  text: string
}

/**
 * What a mail server does with the next emails: a status that it rejects the recipient with, `hang` for no response, or a
 * function that returns why it rejects an email for now.
 */
type MailBehaviour = 'accept' | 'hang' | number | ((mail: Pick<ReceivedMail, 'raw' | 'text'>) => string)

/** A mail server on this machine that keeps what it receives. */
export interface MailServer {
  url: string
  received: ReceivedMail[]
  /** Connections so far. */
  connections(): number
  behave(behaviour: MailBehaviour): void
  close(): Promise<void>
}

/** With `password`, it requires the user `parley` and that password. */
export async function startMailServer({ password }: { password?: string } = {}): Promise<MailServer> {
  const received: ReceivedMail[] = []
  let behaviour: MailBehaviour = 'accept'
  let connections = 0
  const server = new SMTPServer({
    authOptional: password === undefined,
    // To connections without TLS too: this machine only.
    allowInsecureAuth: true,
    disabledCommands: ['STARTTLS'],
    closeTimeout: 1,
    onConnect(_session, callback) {
      connections++
      if (behaviour !== 'hang') callback()
    },
    onAuth(auth, _session, callback) {
      const isRight = auth.username === 'parley' && auth.password === password
      callback(isRight ? null : new Error('Wrong password'), { user: 'parley' })
    },
    onRcptTo({ address }, _session, callback) {
      if (typeof behaviour === 'number') {
        return callback(Object.assign(new Error(`not today: <${address}>`), { responseCode: behaviour }))
      }
      callback()
    },
    onData(stream, { envelope }, callback) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const raw = Buffer.concat(chunks).toString('utf8')
        if (typeof behaviour === 'function') {
          const reason = behaviour({ raw, ...read(raw) }).replace(/\s+/g, ' ')
          return callback(Object.assign(new Error(reason), { responseCode: 451 }))
        }
        const from = envelope.mailFrom ? envelope.mailFrom.address : ''
        received.push({ from, to: envelope.rcptTo.map(({ address }) => address), raw, ...read(raw) })
        callback()
      })
    },
  })
  server.on('error', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.server.address() as AddressInfo
  return {
    url: `smtp://${password === undefined ? '' : `parley:${encodeURIComponent(password)}@`}127.0.0.1:${port}`,
    received,
    connections: () => connections,
    behave(next) {
      behaviour = next
    },
    close: () => new Promise((resolve) => server.close(resolve)),
  }
}

/** The subject, and the decoded text of all parts. */
function read(raw: string): { subject: string; text: string } {
  const [, folded = ''] = /^Subject: (.*(?:\r\n[ \t].*)*)/im.exec(raw) ?? []
  return { subject: decodeWords(folded.replace(/\r\n[ \t]/g, ' ')), text: decodeBodies(raw) }
}

/** Encoded words of a header, such as `=?UTF-8?Q?a_b?=`. */
const decodeWords = (text: string): string =>
  text
    .replace(/\?=\s+=\?/g, '?==?')
    .replace(/=\?utf-8\?(q|b)\?([^?]*)\?=/gi, (_, kind: string, word: string) =>
      kind.toLowerCase() === 'b' ? Buffer.from(word, 'base64').toString() : decodeQuoted(word.replaceAll('_', ' ')),
    )

const decodeBodies = (raw: string): string =>
  raw
    .split(/^--.*$/m)
    .map((part) => {
      const [head = '', ...body] = part.split(/\r\n\r\n/)
      const text = body.join('\r\n\r\n')
      if (/Content-Transfer-Encoding: quoted-printable/i.test(head)) return decodeQuoted(text)
      if (/Content-Transfer-Encoding: base64/i.test(head)) return Buffer.from(text, 'base64').toString()
      return text
    })
    .join('\n')

function decodeQuoted(text: string): string {
  const joined = text.replace(/=\r\n/g, '')
  const bytes = joined.replace(/=([0-9A-F]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString('utf8')
}
