import type { ConsoleSender } from '@parley/contract/console/senders'
import type { ConsoleTemplate } from '@parley/contract/console/templates'
import type { SendRequest } from '@parley/contract/send'
import { useTemplateChoice } from './network.queries.ts'
import { useConnectedSenders } from './recipient.tsx'

/** A request that sends a message in this workspace as it is, for code to copy. */
export const useExampleRequest = (): SendRequest =>
  exampleRequest(useConnectedSenders(), useTemplateChoice().data?.data ?? [])

/**
 * A template, because WhatsApp accepts it at any time. If the workspace has none without variables, the example names
 * `hello_world`, which new WhatsApp accounts have.
 */
function exampleRequest(senders: readonly ConsoleSender[], templates: readonly ConsoleTemplate[]): SendRequest {
  const usable = templates.filter(
    ({ status, sendable, variables, flow }) =>
      status === 'APPROVED' && sendable && variables.length === 0 && flow === null,
  )
  const ofSenders = usable.filter(({ account }) => senders.some(({ connection }) => connection.account === account))
  const template = ofSenders.find(({ name }) => name === 'hello_world') ?? ofSenders[0]
  const sender = senders.find(({ connection }) => connection.account === template?.account) ?? senders[0]
  const { name, language } = template ?? { name: 'hello_world', language: 'en_US' }
  return {
    // A workspace with one sender need not name it.
    ...(senders.length > 1 && sender && { sender_id: sender.id }),
    to: '491701234567',
    type: 'template',
    template: { name, language },
  }
}
