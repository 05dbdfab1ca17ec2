import type { CallFailure, CallOutcome } from '../../../whatsapp/graph/call.ts'
import type { GraphAccess, GraphClient } from '../../../whatsapp/graph/client.ts'

/** Sets the callback and the webhook fields of a Meta app. Returns the fields that Meta does not offer, which are left out. */
export async function subscribeOffered(
  client: GraphClient,
  access: GraphAccess,
  metaAppId: string,
  callback: Parameters<GraphClient['subscribe']>[2],
): Promise<CallOutcome<string[]>> {
  const refused: string[] = []
  for (;;) {
    const fields = callback.fields.filter((field) => !refused.includes(field))
    const outcome = await client.subscribe(access, metaAppId, { ...callback, fields })
    if (outcome.kind === 'ok') return { kind: 'ok', value: refused }
    const field = refusedField(outcome, fields)
    if (field === undefined) return outcome
    refused.push(field)
  }
}

/** `Param fields[1] must be one of {…} - got "calls".` Without `messages`, the others are of no use. */
function refusedField(failure: CallFailure, fields: readonly string[]): string | undefined {
  if (failure.kind !== 'refused' || failure.error.code !== 100) return undefined
  const [, index] = /Param fields\[(\d+)\] must be one of/.exec(failure.error.message) ?? []
  const field = index === undefined ? undefined : fields[Number(index)]
  return field === 'messages' ? undefined : field
}
