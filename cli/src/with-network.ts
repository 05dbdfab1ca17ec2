import { type Network, newNetwork } from '@parley/server/domain/connections/network'
import { version } from '@parley/server/lib/version'
import type { Call } from './command.ts'
import { newProgress } from './progress.ts'

/** Runs `work` with a client of the Graph API, and shows that it is connecting. */
export async function withNetwork<T>({ db, clock, config }: Call, work: (network: Network) => Promise<T>): Promise<T> {
  // Loaded on demand: the other commands do not call the Graph API.
  const { GraphClient } = await import('@parley/server/whatsapp/graph/client')
  const client = new GraphClient({ productVersion: version, graphVersion: config.graphVersion })
  const progress = newProgress()
  progress.say('Connecting to WhatsApp')
  try {
    return await work(newNetwork({ db: await db(), clock, secretKeys: config.secretKeys(), client }))
  } finally {
    progress.end()
    await client.close()
  }
}
