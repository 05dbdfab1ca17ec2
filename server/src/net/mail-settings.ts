/** The mail server that emails are sent through, and the sender that they show. */
export interface MailSettings {
  host: string
  port: number
  /** TLS from the first byte. Otherwise STARTTLS, if the server offers it. */
  secure: boolean
  credentials: { user: string; password: string } | null
  from: { name: string; address: string }
  /** How long the mail server may say nothing, if it is not the default. */
  silenceMs?: number
}

const ports = { 'smtp:': 587, 'smtps:': 465 } as const

/** Reads `smtp://user:password@host:587`. Null if it is something else. */
export function readSmtpUrl(text: string): Omit<MailSettings, 'from'> | null {
  if (!URL.canParse(text)) return null
  const { protocol, hostname, port, username, password, pathname, search, hash } = new URL(text)
  if (protocol !== 'smtp:' && protocol !== 'smtps:') return null
  if (hostname === '' || !/^\/?$/.test(pathname) || search || hash || (password && !username)) return null
  try {
    const credentials = username ? { user: decodeURIComponent(username), password: decodeURIComponent(password) } : null
    return {
      // An IPv6 address without its brackets.
      host: hostname.replace(/^\[(.*)\]$/, '$1'),
      port: port === '' ? ports[protocol] : Number(port),
      secure: protocol === 'smtps:',
      credentials,
    }
  } catch {
    return null
  }
}

/** Reads `Parley <parley@example.com>` or `parley@example.com`. Null if it is something else. */
export function readMailFrom(text: string): MailSettings['from'] | null {
  const [, name = '', inBrackets, plain] =
    /^(?:([^<>"\p{Cc}]{0,100})<([^\s<>"@,;]+@[^\s<>"@,;]+)>|([^\s<>"@,;]+@[^\s<>"@,;]+))$/u.exec(text.trim()) ?? []
  const address = inBrackets ?? plain
  return address === undefined || address.length > 254 ? null : { name: name.trim(), address }
}
