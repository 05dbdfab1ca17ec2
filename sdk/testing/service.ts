import { eventTypes } from '@parley/contract/events'
import { beforeAll } from 'vitest'
import { createWebhook } from '../../server/src/domain/webhooks/webhooks.ts'
import { localRules, useDeliveryWorker } from '../../server/testing/deliveries.ts'
import { type Sending, useSending } from '../../server/testing/sending.ts'
import { type TestServer, useTestServer } from '../../server/testing/test-server.ts'
import type { TestWorkspace } from '../../server/testing/workspace.ts'

/** The service with the real time, for programs in other processes that call it and receive deliveries. */
export interface Service {
  server: TestServer
  sending: Sending
  /** Creates an endpoint for all events and returns its secret. */
  listen(workspace: Pick<TestWorkspace, 'id'>, url: string): Promise<string>
  /** Sends queued messages, processes their statuses and makes the deliveries. */
  processQueues(): Promise<void>
}

const dayMs = 86_400_000

export function useService(): Service {
  const server = useTestServer()
  beforeAll(() => server.passDays((Date.now() - server.clock.now().getTime()) / dayMs))
  const sending = useSending(server)
  const deliveries = useDeliveryWorker(server, { deadlineMs: 10_000, bodyDeadlineMs: 5000 })
  return {
    server,
    sending,
    async listen(workspace, url) {
      const { db, clock, secretKeys } = server
      const input = { workspaceId: workspace.id, name: 'receiver', url, events: eventTypes }
      return (await createWebhook(db, clock, secretKeys, localRules, input)).secret
    },
    async processQueues() {
      await sending.drain()
      await deliveries.worker.drain()
    },
  }
}
