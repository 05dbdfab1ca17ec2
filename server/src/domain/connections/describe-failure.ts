import type { CallFailure } from '../../whatsapp/graph/call.ts'
import type { GraphAccess } from '../../whatsapp/graph/client.ts'
import { hideToken } from '../../whatsapp/graph/hide-token.ts'

/**
 * Describes a failed call for people, with the network's message if there is one. That may repeat the token, so it is
 * masked.
 */
export function describeFailure(failure: CallFailure, { graphUrl, accessToken }: GraphAccess): string {
  return hideToken(describe(failure, graphUrl), accessToken)
}

function describe(failure: CallFailure, graphUrl: string): string {
  if (failure.kind === 'unreachable') return `WhatsApp cannot be reached at ${graphUrl} (${failure.why}).`
  if (failure.kind === 'unknown') return `WhatsApp sent no readable response from ${graphUrl} (${failure.why}).`
  const { code, message, details } = failure.error
  return `${message}${details && details !== message ? ` ${details}` : ''} (WhatsApp error ${code})`
}
