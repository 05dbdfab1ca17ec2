import { benchApi } from './api.ts'
import { benchDeliver } from './deliver.ts'
import { benchIngest } from './ingest.ts'
import { benchIsolation } from './isolation.ts'
import { benchPages } from './pages.ts'
import { benchSend } from './send.ts'

const benches: Record<string, { about: string; run: () => Promise<void> }> = {
  api: { about: 'authenticated GET /v1/me beside bare Fastify and bare node:http', run: benchApi },
  deliver: {
    about: 'from the network’s webhook to the signed delivery, beside the same with nothing kept',
    run: benchDeliver,
  },
  ingest: { about: 'webhooks of the network, checked, kept and published', run: benchIngest },
  isolation: { about: 'fifty endpoints beside one that hangs with 50,000 waiting', run: benchIsolation },
  pages: {
    about: 'what every page of the console asks, over a million messages and ten million requests',
    run: benchPages,
  },
  send: { about: 'sends: taken a second, and the time until the network is called', run: benchSend },
}

const [name = ''] = process.argv.slice(2)
const bench = benches[name]
if (bench) {
  await bench.run()
} else {
  console.error('Usage: npm run bench -- <name>\n')
  for (const [each, { about }] of Object.entries(benches)) console.error(`  ${each.padEnd(11)}${about}`)
  process.exitCode = 1
}
