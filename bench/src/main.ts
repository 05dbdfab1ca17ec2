import { benchApi } from './api.ts'
import { benchDeliver } from './deliver.ts'
import { benchIngest } from './ingest.ts'
import { benchIsolation } from './isolation.ts'
import { benchPages } from './pages.ts'
import { benchRoles } from './roles.ts'
import { benchSend } from './send.ts'
import { benchStatuses } from './statuses.ts'

const benches: Record<string, { description: string; run: () => Promise<void> }> = {
  api: { description: 'authenticated GET /v1/me, compared with bare Fastify and bare node:http', run: benchApi },
  deliver: {
    description: 'from WhatsApp’s webhook to the signed delivery, compared with the same path without a database',
    run: benchDeliver,
  },
  ingest: { description: 'webhooks of WhatsApp: verified, stored and published', run: benchIngest },
  isolation: {
    description:
      'one workspace, endpoint or client next to others that hang, flood or are slow; claims with 10,000 endpoints',
    run: benchIsolation,
  },
  pages: {
    description: 'all requests of the console’s pages, with a million messages and ten million logged requests',
    run: benchPages,
  },
  roles: {
    description: 'webhook in to webhook out with the roles `api` and `worker`, compared with one process',
    run: benchRoles,
  },
  send: { description: 'accepted sends per second, and the time until WhatsApp is called', run: benchSend },
  statuses: {
    description: 'webhooks of WhatsApp with statuses of sent messages, and what each costs PostgreSQL',
    run: benchStatuses,
  },
}

const [name = ''] = process.argv.slice(2)
const bench = benches[name]
if (bench) {
  await bench.run()
} else {
  console.error('Usage: npm run bench -- <name>\n')
  for (const [each, { description }] of Object.entries(benches)) console.error(`  ${each.padEnd(11)}${description}`)
  process.exitCode = 1
}
