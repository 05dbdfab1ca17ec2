import { Blocked } from './target-guard.ts'

/** Why an attempt failed, in one word that a person understands. */
export type OutboundErrorKind = 'dns' | 'connect' | 'tls' | 'timeout' | 'blocked' | 'http' | 'protocol'

/** A deadline of ours has passed. */
export class OutboundTimeout extends Error {
  override readonly name = 'Late'
}

const tlsCode = /^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|ERR_OSSL|HOSTNAME_MISMATCH|EPROTO)/

/** What an error of the network was about; `connected` says whether a connection had been made. */
export function outboundErrorKind(error: Error, connected: boolean): OutboundErrorKind {
  const { code = '', syscall } = error as NodeJS.ErrnoException
  if (error instanceof Blocked) return 'blocked'
  if (error instanceof OutboundTimeout || code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT') return 'timeout'
  if (syscall === 'getaddrinfo' || /^(ENOTFOUND|EAI_|ENODATA|ESERVFAIL)/.test(code)) return 'dns'
  if (tlsCode.test(code) || /before secure TLS connection/.test(error.message)) return 'tls'
  return connected ? 'protocol' : 'connect'
}
