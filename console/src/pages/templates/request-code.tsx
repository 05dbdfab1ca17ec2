import type { ConsoleTemplate } from '@parley/contract/console/templates'
import { useSession } from '../../lib/session.ts'
import { useConnectedSenders } from '../../parts/recipient.tsx'
import { CodeTabs } from '../../ui/code-block.tsx'
import { snippetsFor } from './snippets.ts'

/** The API request that sends this template. */
export function RequestCode({
  template,
  variables,
}: {
  template: ConsoleTemplate
  variables: Readonly<Record<string, unknown>>
}) {
  const { public_url: url } = useSession()
  const senders = useConnectedSenders()
  // sender_id is only required if the workspace has more than one sender.
  const sender =
    senders.length > 1 ? senders.find(({ connection }) => connection.account === template.account) : undefined
  const request = {
    ...(sender && { sender_id: sender.id }),
    to: '491701234567',
    type: 'template',
    template: {
      name: template.name,
      language: template.language,
      ...(Object.keys(variables).length > 0 && { variables }),
    },
  }
  return <CodeTabs label="Language" snippets={snippetsFor(url, request)} />
}
