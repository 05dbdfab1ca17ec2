import type { GraphAccess } from '../../whatsapp/client.ts'
import type { CallFailure } from '../../whatsapp/graph-call.ts'

/**
 * Describes a failed call for people, with the network's message if there is one. That may repeat the token, so it is
 * masked.
 */
export function describeFailure(failure: CallFailure, { graphUrl, accessToken }: GraphAccess): string {
  return describe(failure, graphUrl).replaceAll(accessToken, '…')
}

function describe(failure: CallFailure, graphUrl: string): string {
  if (failure.kind === 'unreachable') return `The network at ${graphUrl} cannot be reached (${failure.why}).`
  if (failure.kind === 'unknown') return `The network at ${graphUrl} sent no readable response (${failure.why}).`
  const { code, message, details } = failure.error
  return `${message}${details && details !== message ? ` ${details}` : ''} (the network's error ${code})`
}
