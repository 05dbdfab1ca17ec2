import { LookupError } from './lookup-error.ts'
import { Blocked } from './target-guard.ts'

/** The kind of error that made an attempt fail, as shown to people. */
export type OutboundErrorKind = 'dns' | 'connect' | 'tls' | 'timeout' | 'blocked' | 'http' | 'protocol'

/** A deadline of this client has passed. */
export class OutboundTimeout extends Error {
  override readonly name = 'OutboundTimeout'
}

const tlsCode = /^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|ERR_OSSL|HOSTNAME_MISMATCH|EPROTO)/

/** Classifies an error. `connected` says whether the connection had been established. */
export function outboundErrorKind(error: Error, connected: boolean): OutboundErrorKind {
  const { code = '' } = error as NodeJS.ErrnoException
  if (error instanceof Blocked) return 'blocked'
  if (error instanceof OutboundTimeout || code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT') return 'timeout'
  if (error instanceof LookupError) return 'dns'
  if (tlsCode.test(code) || /before secure TLS connection/.test(error.message)) return 'tls'
  return connected ? 'protocol' : 'connect'
}
