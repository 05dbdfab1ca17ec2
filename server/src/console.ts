import { inspectorDaysOf } from '@parley/contract/console/inspector'
import type { FastifyInstance } from 'fastify'
import { listenForChanges } from './db/listen-for-changes.ts'
import type { OnChange } from './db/notices/change-notices.ts'
import { recordAuditEntry } from './domain/audit/audit.ts'
import { auditConsoleRoutes } from './domain/audit/console.routes.ts'
import { connectionConsoleRoutes } from './domain/connections/console.routes.ts'
import { numberConsoleRoutes } from './domain/connections/numbers.routes.ts'
import { syncWorkspace } from './domain/connections/sync-workspace.ts'
import { templateChangeRoutes } from './domain/connections/templates.routes.ts'
import { contactConsoleRoutes } from './domain/contacts/console.routes.ts'
import { creditConsoleRoutes } from './domain/credits/console.routes.ts'
import { operatorPriceRoutes } from './domain/credits/operator.routes.ts'
import { deliveryConsoleRoutes } from './domain/deliveries/console.routes.ts'
import { workerChannels } from './domain/deliveries/engine/publish/other-workers.ts'
import { findEventsOf } from './domain/deliveries/reading/deliveries-of-message.ts'
import { replayConsoleRoutes } from './domain/deliveries/replays/console.routes.ts'
import { flowConsoleRoutes } from './domain/flows/console.routes.ts'
import { instanceRoutes } from './domain/instance/console.routes.ts'
import { keyConsoleRoutes } from './domain/keys/console.routes.ts'
import { listKeys } from './domain/keys/keys.ts'
import { messageConsoleRoutes } from './domain/messages/console.routes.ts'
import { messageMadeBy } from './domain/messages/reading/messages.ts'
import { alertConsoleRoutes } from './domain/notify/console.routes.ts'
import { orderConsoleRoutes } from './domain/orders/console.routes.ts'
import { overviewConsoleRoutes } from './domain/overview/console.routes.ts'
import { accountRoutes } from './domain/people/account/account.routes.ts'
import { operatorPeopleRoutes } from './domain/people/operators/operator.routes.ts'
import { namesOfPeople } from './domain/people/people.ts'
import { clientOf, readKnownBrowser } from './domain/people/sign-in/known-browsers.ts'
import { sessionOf } from './domain/people/sign-in/sessions.ts'
import { signInRoutes } from './domain/people/sign-in/sign-in.routes.ts'
import { membershipOf } from './domain/people/team/members.ts'
import { teamRoutes } from './domain/people/team/team.routes.ts'
import { privacyConsoleRoutes } from './domain/privacy/console.routes.ts'
import { requestConsoleRoutes } from './domain/requests/console.routes.ts'
import { planBodyRemoval } from './domain/requests/inspector/contents.ts'
import { senderConsoleRoutes } from './domain/senders/console.routes.ts'
import { templateConsoleRoutes } from './domain/templates/console.routes.ts'
import { updateConsoleRoutes } from './domain/updates/console.routes.ts'
import { webhookConsoleRoutes } from './domain/webhooks/console.routes.ts'
import { operatorWebhookRoutes } from './domain/webhooks/operator.routes.ts'
import { whyConsoleRoutes } from './domain/why/console.routes.ts'
import { workspaceConsoleRoutes } from './domain/workspaces/console.routes.ts'
import { readSettings } from './domain/workspaces/settings.ts'
import { LiveHub, mountLive } from './http/console/live.ts'
import { type ConsoleDeps, mountConsole, newConsoleGuard } from './http/console/pipeline.ts'
import type { ConsoleRoute } from './http/console/route.ts'
import { version } from './lib/version.ts'
import type { Runtime } from './runtime.ts'
import type { Overload } from './sharing/overload.ts'

/** Every route under /console/api. */
export function consoleRoutes({ config, replica, network, simulatorUrl, simulatorPhone }: Runtime): ConsoleRoute[] {
  const parts = { ...config, site: config, network, simulatorUrl, simulatorPhone, version }
  return [
    ...signInRoutes(parts),
    ...accountRoutes(parts),
    ...overviewConsoleRoutes(parts),
    ...alertConsoleRoutes(parts),
    ...messageConsoleRoutes(),
    ...templateConsoleRoutes(),
    ...templateChangeRoutes(parts),
    ...senderConsoleRoutes({ syncWorkspace: (workspaceId) => syncWorkspace(network, workspaceId) }),
    ...numberConsoleRoutes(parts),
    ...flowConsoleRoutes(),
    ...orderConsoleRoutes(),
    ...contactConsoleRoutes(),
    ...privacyConsoleRoutes(),
    ...keyConsoleRoutes(),
    ...webhookConsoleRoutes(parts),
    ...deliveryConsoleRoutes(),
    ...replayConsoleRoutes(),
    ...requestConsoleRoutes(
      {
        listKeys,
        messageMadeBy,
        findEventsOf,
        isInspected: async (db, workspaceId) => (await readSettings(db, workspaceId)).requestInspector,
      },
      inspectorDaysOf(parts.retentionDays, parts.contentRetentionDays),
    ),
    ...creditConsoleRoutes(),
    ...teamRoutes(parts),
    ...operatorPeopleRoutes(parts),
    ...auditConsoleRoutes({ namesOf: namesOfPeople }),
    ...workspaceConsoleRoutes(parts, { planBodyRemoval }),
    ...connectionConsoleRoutes(parts),
    ...updateConsoleRoutes(),
    ...instanceRoutes({ ...parts, replica: replica?.state ?? null }),
    ...operatorPriceRoutes(),
    ...operatorWebhookRoutes(),
    ...whyConsoleRoutes(parts),
  ]
}

export interface Console {
  stop(): Promise<void>
}

type Deps = Omit<
  ConsoleDeps,
  'replica' | 'sessionOf' | 'membershipOf' | 'record' | 'clientOf' | 'openRequestsPerMinute' | 'operatorsNeedTwoFactor'
> & {
  overload: Overload
  changes: Set<OnChange>
  maxStreams: number
}

export function openConsole(app: FastifyInstance, runtime: Runtime, deps: Deps): Console {
  const { db, replica, clock, log, config } = runtime
  const full: ConsoleDeps = {
    ...deps,
    replica,
    async sessionOf(token, isThere) {
      const session = await sessionOf(db, clock, token, isThere)
      return session && { ...session, sessionId: session.id }
    },
    clientOf: (cookie, address) => clientOf(readKnownBrowser(config.secretKeys(), cookie, clock.now()), address),
    openRequestsPerMinute: config.signInRequestsPerMinute,
    operatorsNeedTwoFactor: config.operatorsNeedTwoFactor,
    membershipOf: (personId, workspaceId) => membershipOf(db, personId, workspaceId),
    record: (within, who, action) => recordAuditEntry(within, clock, who, action),
  }
  const hub = new LiveHub(deps.timeouts.streamCheckMs, deps.maxStreams)
  app.register(
    async (scope) => {
      mountConsole(scope, consoleRoutes(runtime), full)
      mountLive(scope, hub, newConsoleGuard(full), deps.overload)
    },
    { prefix: '/console/api' },
  )
  // Browsers fetch again what has changed, so the replica must have it.
  const whenReadable = (show: () => void) => (replica ? replica.whenReadable(show) : show())
  deps.changes.add((notice) => {
    if (notice === null) whenReadable(() => hub.publishAll())
    else if (notice.topic === 'access') hub.checkPerson(notice.workspaceId)
    else whenReadable(() => hub.publish(notice))
  })
  const listening = listenForChanges(db, log, deps.changes, workerChannels(db, runtime.otherWorkers))
  // Open event streams would keep the server from closing, so end them first.
  app.addHook('preClose', async () => hub.stop())
  return { stop: () => listening.stop() }
}
