import type {
  ConsoleWebhook,
  MadeWebhook,
  NewWebhook,
  TestSent,
  TestWish,
  WebhookChange,
} from '@parley/contract/console/webhooks'
import type { Webhook } from '@parley/contract/webhook'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { api } from '../../lib/api.ts'
import { useLive } from '../../lib/live.ts'
import type { List } from '../../lib/query.ts'
import { useHere } from '../../lib/session.ts'

/** The endpoints and how they fare; renewed as deliveries are made. */
export function useWebhooks() {
  const here = useHere()
  const path = here.api('webhooks')
  useLive(here.id, ['webhooks', 'deliveries'], [[path]])
  const asked = useQuery({ queryKey: [path], queryFn: ({ signal }) => api<List<ConsoleWebhook>>(path, { signal }) })
  return {
    rows: asked.data?.data,
    error: asked.error,
    isLoading: asked.isPending,
    isRefreshing: asked.isFetching && !asked.isPending,
    retry: () => void asked.refetch(),
  }
}

export function useWebhook(id: string) {
  const here = useHere()
  const path = here.api(`webhooks/${id}`)
  useLive(here.id, ['webhooks', 'deliveries'], [[path]])
  return useQuery({ queryKey: [path], queryFn: ({ signal }) => api<ConsoleWebhook>(path, { signal }) })
}

/** What can be done to endpoints; each renews what is shown of them. */
export function useWebhookDeeds() {
  const here = useHere()
  const client = useQueryClient()
  const call = async <Answer>(path: string, method: 'POST' | 'PATCH' | 'DELETE', body: unknown = {}) => {
    const answer = await api<Answer>(here.api(path), { method, body })
    void client.invalidateQueries({ predicate: ({ queryKey }) => String(queryKey[0]).startsWith(here.api('webhooks')) })
    return answer
  }
  return {
    create: (wish: NewWebhook) => call<MadeWebhook>('webhooks', 'POST', wish),
    change: (id: string, wish: WebhookChange) => call<Webhook>(`webhooks/${id}`, 'PATCH', wish),
    rotate: (id: string) => call<MadeWebhook>(`webhooks/${id}/rotate`, 'POST'),
    enable: (id: string) => call<ConsoleWebhook>(`webhooks/${id}/enable`, 'POST'),
    disable: (id: string, reason: string) => call<ConsoleWebhook>(`webhooks/${id}/disable`, 'POST', { reason }),
    remove: (id: string) => call<void>(`webhooks/${id}`, 'DELETE'),
    test: (id: string, type: TestWish['type']) => call<TestSent>(`webhooks/${id}/test`, 'POST', { type }),
  }
}
