import type { GraphAccess } from '../../whatsapp/client.ts'
import type { CallFailure } from '../../whatsapp/graph-call.ts'

/** A failed call in words for a person: the network's own where it gave some. It sometimes repeats the token; we do not. */
export function wordsOf(failure: CallFailure, { graphUrl, accessToken }: GraphAccess): string {
  return inWords(failure, graphUrl).replaceAll(accessToken, '…')
}

function inWords(failure: CallFailure, graphUrl: string): string {
  if (failure.kind === 'unreachable') return `The network at ${graphUrl} cannot be reached (${failure.why}).`
  if (failure.kind === 'unknown') return `The network at ${graphUrl} gave no answer that can be read (${failure.why}).`
  const { code, message, details } = failure.error
  return `${message}${details && details !== message ? ` ${details}` : ''} (the network's error ${code})`
}
