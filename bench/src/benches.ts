import type { Scope } from './lib/scope.ts'
import type { Row } from './lib/table.ts'
import { missingPeers } from './peers-folder.ts'

export interface Bench {
  name: string
  description: string
  /** Imports what it needs, so that listing the benchmarks does not load the service. */
  run(scope: Scope): Promise<Row[]>
  /** Why it cannot run here; null if it can. */
  missing?(): string | null
}

/** In the order in which `all` runs them. */
export const benches: readonly Bench[] = [
  {
    name: 'deliver',
    description: 'from WhatsApp’s webhook to the signed delivery, compared with the same path without a database',
    run: async (scope) => (await import('./deliver.ts')).benchDeliver(scope),
  },
  {
    name: 'api',
    description: 'authenticated GET /v1/me, compared with bare Fastify and bare node:http',
    run: async (scope) => (await import('./api.ts')).benchApi(scope),
  },
  {
    name: 'ingest',
    description: 'webhooks of WhatsApp: verified, stored and published',
    run: async (scope) => (await import('./ingest.ts')).benchIngest(scope),
  },
  {
    name: 'statuses',
    description: 'webhooks of WhatsApp with statuses of sent messages, and what each costs PostgreSQL',
    run: async (scope) => (await import('./statuses.ts')).benchStatuses(scope),
  },
  {
    name: 'send',
    description: 'accepted sends per second, and the time until WhatsApp is called',
    run: async (scope) => (await import('./send.ts')).benchSend(scope),
  },
  {
    name: 'roles',
    description: 'webhook in to webhook out with the roles `api` and `worker`, compared with one process',
    run: async (scope) => (await import('./roles.ts')).benchRoles(scope),
  },
  {
    name: 'isolation',
    description:
      'one workspace, endpoint or client next to others that hang, flood or are slow; claims with 10,000 endpoints',
    run: async (scope) => (await import('./isolation.ts')).benchIsolation(scope),
  },
  {
    name: 'pages',
    description: 'all requests of the console’s pages, with a million messages and ten million logged requests',
    run: async (scope) => (await import('./pages.ts')).benchPages(scope),
  },
  {
    name: 'lifecycle',
    description:
      'a message from POST /v1/messages to its four signed deliveries, compared with the same path in memory',
    run: async (scope) => (await import('./lifecycle.ts')).benchLifecycle(scope),
  },
  {
    name: 'growth',
    description: 'what an event costs with 20 million events stored, compared with 100,000; needs 40 GB of disk',
    run: async (scope) => (await import('./growth.ts')).benchGrowth(scope),
  },
  {
    name: 'memory',
    description: 'the memory of the process over 500,000 events: flat or growing',
    run: async (scope) => (await import('./memory.ts')).benchMemory(scope),
  },
  {
    name: 'commands',
    description: 'commands of the command line, from the shell',
    run: async (scope) => (await import('./commands.ts')).benchCommands(scope),
  },
  {
    name: 'peers',
    description: 'the peers’ benchmark: compared with queues that others use, if it is installed',
    run: async (scope) => (await import('./peers.ts')).benchPeers(scope),
    missing: missingPeers,
  },
]
