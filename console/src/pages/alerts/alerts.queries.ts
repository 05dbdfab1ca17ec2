import type { Alert, Alerts } from '@parley/contract/console/alerts'
import type { MailChoice, MailChoices } from '@parley/contract/console/notifications'
import { useData } from '../../lib/query.ts'
import { useHere } from '../../lib/session.ts'
import { useAction } from '../../lib/use-action.ts'

export type { Alert }

export const useAlerts = () =>
  useData<Alerts>(useHere().api('alerts'), {
    topics: ['webhooks', 'credits', 'keys', 'senders', 'templates'],
    refetchInterval: 30_000,
  })

/** Turns an email on or off. It applies to all workspaces of the person. */
export const useChangeEmail = () =>
  useAction((send, choice: MailChoice) => send<MailChoices>('PATCH', 'account/notifications', choice), {
    refetch: ['account', useHere().api('alerts')],
    done: (_choices, { wanted }) => (wanted ? 'You get this email' : 'You will not get this email again'),
  })
