import type { FastifyInstance } from 'fastify'
import { version } from './config.ts'
import type { Database } from './db/db.ts'
import { hearNews } from './db/hear-news.ts'
import { recordDeed } from './domain/audit/audit.ts'
import { auditConsoleRoutes } from './domain/audit/console.routes.ts'
import { connectionConsoleRoutes } from './domain/connections/console.routes.ts'
import type { Network } from './domain/connections/network.ts'
import { syncWorkspace } from './domain/connections/sync-workspace.ts'
import { wakeSyncHere } from './domain/connections/wakes.ts'
import { creditConsoleRoutes } from './domain/credits/console.routes.ts'
import { operatorPriceRoutes } from './domain/credits/operator.routes.ts'
import { deliveryConsoleRoutes } from './domain/deliveries/console.routes.ts'
import { workerOf } from './domain/deliveries/engine/first-attempts.ts'
import { flowConsoleRoutes } from './domain/flows/console.routes.ts'
import { type InstanceDeps, instanceRoutes } from './domain/instance/console.routes.ts'
import { keyConsoleRoutes } from './domain/keys/console.routes.ts'
import { listKeys } from './domain/keys/keys.ts'
import { messageConsoleRoutes } from './domain/messages/console.routes.ts'
import { messageMadeBy } from './domain/messages/reading/of-request.ts'
import { orderConsoleRoutes } from './domain/orders/console.routes.ts'
import { overviewConsoleRoutes } from './domain/overview/console.routes.ts'
import { accountRoutes } from './domain/people/account.routes.ts'
import { membershipOf } from './domain/people/members.ts'
import { operatorPeopleRoutes } from './domain/people/operator.routes.ts'
import { sessionOf } from './domain/people/sessions.ts'
import { signInRoutes } from './domain/people/sign-in.routes.ts'
import { teamRoutes } from './domain/people/team.routes.ts'
import { requestConsoleRoutes } from './domain/requests/console.routes.ts'
import { senderConsoleRoutes } from './domain/senders/console.routes.ts'
import { templateConsoleRoutes } from './domain/templates/console.routes.ts'
import { webhookConsoleRoutes } from './domain/webhooks/console.routes.ts'
import { workspaceConsoleRoutes } from './domain/workspaces/console.routes.ts'
import { LiveHub, mountLive } from './http/console/live.ts'
import { type ConsoleDeps, mountConsole, newDoor } from './http/console/pipeline.ts'
import type { ConsoleRoute } from './http/console/route.ts'
import type { SecretKeys } from './lib/seal.ts'
import type { TargetRules } from './lib/target-guard.ts'

/** What the console's routes need besides the database. */
export interface ConsoleParts {
  secretKeys(): SecretKeys
  /** Where webhooks may go. */
  targetRules: TargetRules
  network: Network
  publicUrl: string
  simulatorUrl(): string | null
  retentionDays: number
  /** For the operator's look at how the installation is. */
  site: InstanceDeps['site']
  version: string
}

/** The console's table of contents: every route there is under /console/api. */
export const consoleRoutes = (parts: ConsoleParts): ConsoleRoute[] => [
  ...signInRoutes(parts),
  ...accountRoutes(parts),
  ...overviewConsoleRoutes(),
  ...messageConsoleRoutes(),
  ...templateConsoleRoutes(),
  ...senderConsoleRoutes({ syncWorkspace: (workspaceId) => syncWorkspace(parts.network, workspaceId) }),
  ...flowConsoleRoutes(),
  ...orderConsoleRoutes(),
  ...keyConsoleRoutes(),
  ...webhookConsoleRoutes(parts),
  ...deliveryConsoleRoutes(),
  ...requestConsoleRoutes({ listKeys, messageMadeBy }),
  ...creditConsoleRoutes(),
  ...teamRoutes(parts),
  ...operatorPeopleRoutes(parts),
  ...auditConsoleRoutes(),
  ...workspaceConsoleRoutes(parts),
  ...connectionConsoleRoutes(parts),
  ...instanceRoutes(parts),
  ...operatorPriceRoutes(),
]

export interface Console {
  stop(): Promise<void>
}

/** What a process brings; the rest the console knows by itself. */
export type Parts = Omit<ConsoleParts, 'publicUrl' | 'version' | 'site'>

type Deps = Omit<ConsoleDeps, 'sessionOf' | 'membershipOf' | 'record'> & { db: Database }

export function openConsole(app: FastifyInstance, deps: Deps, parts: Parts): Console {
  const { db, clock, log, publicUrl } = deps
  const full: ConsoleDeps = {
    ...deps,
    async sessionOf(token, isThere) {
      const session = await sessionOf(db, clock, token, isThere)
      return session && { ...session, sessionId: session.id }
    },
    membershipOf: (personId, workspaceId) => membershipOf(db, personId, workspaceId),
    record: (within, who, deed) => recordDeed(within, clock, who, deed),
  }
  const hub = new LiveHub(deps.patience.streamCheckMs)
  app.register(
    async (room) => {
      mountConsole(room, consoleRoutes({ ...parts, publicUrl, version, site: deps }), full)
      mountLive(room, hub, newDoor(full))
    },
    { prefix: '/console/api' },
  )
  const listening = hearNews(
    db,
    log,
    (news) => {
      if (news.topic === 'due') workerOf(db)?.wake()
      else if (news.topic === 'sync_due') wakeSyncHere(db)
      else hub.hear(news)
    },
    () => hub.missed(),
  )
  // Streams would keep the server from closing: nobody ends them but us.
  app.addHook('preClose', async () => hub.stop())
  return { stop: () => listening.stop() }
}
