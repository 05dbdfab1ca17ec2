import { eventTypes } from '@parley/contract/events'
import { beforeAll } from 'vitest'
import { createWebhook } from '../../server/src/domain/webhooks/webhooks.ts'
import { localRules, useDeliveryWorker } from '../../server/testing/deliveries.ts'
import { type Sending, useSending } from '../../server/testing/sending.ts'
import { type TestServer, useTestServer } from '../../server/testing/test-server.ts'
import type { TestWorkspace } from '../../server/testing/workspace.ts'

/** The whole service on today's time: programs of their own call it, and it delivers to them. */
export interface Service {
  server: TestServer
  sending: Sending
  /** Makes an endpoint of the workspace that hears of everything; gives its secret. */
  listen(workspace: Pick<TestWorkspace, 'id'>, url: string): Promise<string>
  /** Sends what is due, hears what the network says of it, and makes the deliveries. */
  settle(): Promise<void>
}

export function useService(): Service {
  const server = useTestServer()
  beforeAll(() => server.clock.forward({ ms: Date.now() - server.clock.now().getTime() }))
  const sending = useSending(server)
  const deliveries = useDeliveryWorker(server, { deadlineMs: 10_000, bodyDeadlineMs: 5000 })
  return {
    server: server,
    sending,
    async listen(workspace, url) {
      const { db, clock, secretKeys } = server
      const input = { workspaceId: workspace.id, name: 'receiver', url, events: eventTypes }
      return (await createWebhook(db, clock, secretKeys, localRules, input)).secret
    },
    async settle() {
      await sending.drain()
      await deliveries.worker.drain()
    },
  }
}
