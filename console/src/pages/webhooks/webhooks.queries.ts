import type { NewReplay } from '@parley/contract/console/replays'
import type {
  ConsoleWebhook,
  CreatedWebhook,
  NewWebhook,
  RotateWebhook,
  TestEventInput,
  TestSent,
  WebhookChange,
  WebhookEvents,
} from '@parley/contract/console/webhooks'
import type { Webhook } from '@parley/contract/webhook'
import type { Send } from '../../lib/api.ts'
import { serviceNow } from '../../lib/clock.ts'
import { useData, useUnpagedList } from '../../lib/query.ts'
import { useHere } from '../../lib/session.ts'
import { toast } from '../../lib/toasts.ts'
import { useAction } from '../../lib/use-action.ts'

/** The webhooks with their delivery statistics. Refetched as deliveries are made. */
export const useWebhooks = (filters: Readonly<Record<string, string>>) =>
  useUnpagedList<ConsoleWebhook>(useHere().api('webhooks'), filters, ['webhooks', 'deliveries'])

export const useWebhook = (id: string) =>
  useData<ConsoleWebhook>(useHere().api(`webhooks/${id}`), { topics: ['webhooks', 'deliveries'] })

/** What came by event type. Not refetched with every delivery: it reads many events. */
export const useWebhookEvents = (id: string) =>
  useData<WebhookEvents>(useHere().api(`webhooks/${id}/events`), { topics: ['webhooks'], refetchInterval: 30_000 })

/** An action on webhooks. Refetches them. */
function useWebhookAction<Input = void, Result = unknown>(
  perform: (send: Send, webhooks: string, input: Input) => Promise<Result>,
  done?: string,
) {
  const webhooks = useHere().api('webhooks')
  return useAction((send, input: Input) => perform(send, webhooks, input), {
    refetch: [webhooks],
    ...(done ? { done } : {}),
  })
}

/** Creates a webhook. With `pastSeconds`, it gets the events of that time too. */
export const useCreateWebhook = () =>
  useWebhookAction(async (send, webhooks, { pastSeconds, ...webhook }: NewWebhook & { pastSeconds: number }) => {
    const created = await send<CreatedWebhook>('POST', webhooks, webhook)
    if (pastSeconds > 0) {
      const since = new Date(serviceNow() - pastSeconds * 1000).toISOString()
      const replay: NewReplay = { since, only: 'missing' }
      // The webhook exists, and its secret is shown only now.
      await send('POST', `${webhooks}/${created.webhook.id}/replays`, replay).catch((error) => toast.failed(error))
    }
    return created
  })

export const useChangeWebhook = (id: string) =>
  useWebhookAction(
    (send, webhooks, change: WebhookChange) => send<Webhook>('PATCH', `${webhooks}/${id}`, change),
    'Webhook saved',
  )

export const useRotateSecret = (id: string) =>
  useWebhookAction((send, webhooks, rotation: RotateWebhook) =>
    send<CreatedWebhook>('POST', `${webhooks}/${id}/rotate`, rotation),
  )

export const useActivateSecret = (id: string) =>
  useWebhookAction(
    (send, webhooks) => send<ConsoleWebhook>('POST', `${webhooks}/${id}/activate`),
    'New secret activated. The old one has stopped working.',
  )

export const useCancelRotation = (id: string) =>
  useWebhookAction(
    (send, webhooks) => send<ConsoleWebhook>('POST', `${webhooks}/${id}/cancel_rotation`),
    'Rotation cancelled. The current secret stays.',
  )

export const useEnableWebhook = (id: string, done: string) =>
  useWebhookAction((send, webhooks) => send<ConsoleWebhook>('POST', `${webhooks}/${id}/enable`), done)

export const useDisableWebhook = (id: string) =>
  useWebhookAction(
    (send, webhooks, reason: string) => send<ConsoleWebhook>('POST', `${webhooks}/${id}/disable`, { reason }),
    'Webhook disabled. Its events are held.',
  )

export const useDeleteWebhook = (id: string) =>
  useWebhookAction((send, webhooks) => send('DELETE', `${webhooks}/${id}`), 'Webhook deleted')

export const useTestWebhook = (id: string) =>
  useWebhookAction((send, webhooks, type: TestEventInput['type']) =>
    send<TestSent>('POST', `${webhooks}/${id}/test`, { type }),
  )
