import { benchApi } from './api.ts'
import { benchIngest } from './ingest.ts'

const benches: Record<string, { about: string; run: () => Promise<void> }> = {
  api: { about: 'authenticated GET /v1/me beside bare Fastify and bare node:http', run: benchApi },
  ingest: { about: 'webhooks of the network, checked, kept and published', run: benchIngest },
}

const [name = ''] = process.argv.slice(2)
const bench = benches[name]
if (bench) {
  await bench.run()
} else {
  console.error('Usage: npm run bench -- <name>\n')
  for (const [each, { about }] of Object.entries(benches)) console.error(`  ${each.padEnd(8)}${about}`)
  process.exitCode = 1
}
