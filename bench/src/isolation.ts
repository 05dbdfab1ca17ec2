import { benchFrozenDatabase } from './isolation-frozen-database.ts'
import { benchHangingEndpoint } from './isolation-hanging-endpoint.ts'
import { benchHangingNames } from './isolation-hanging-names.ts'
import { benchInvalidSignatures } from './isolation-invalid-signatures.ts'
import { benchLogFlood } from './isolation-log-flood.ts'
import { benchManyEndpoints } from './isolation-many-endpoints.ts'
import { benchSlowEndpoints } from './isolation-slow-endpoints.ts'
import { watchNoise } from './lib/noise.ts'
import type { Scope } from './lib/scope.ts'
import type { Row } from './lib/table.ts'

const parts: [string, (scope: Scope) => Promise<Row[]>][] = [
  ['an endpoint that hangs', benchHangingEndpoint],
  ['slow endpoints of another workspace', benchSlowEndpoints],
  ['claims with many endpoints', benchManyEndpoints],
  ['hanging names', benchHangingNames],
  ['wrongly signed webhooks', benchInvalidSignatures],
  ['a stopped database', benchFrozenDatabase],
  ['a log flood', benchLogFlood],
]

/** One workspace, endpoint or client next to others that hang, flood or are slow. */
export async function benchIsolation(scope: Scope): Promise<Row[]> {
  const rows: Row[] = []
  for (const [name, bench] of parts) {
    scope.say(name)
    const noise = watchNoise()
    const found = await scope.part(bench)
    const share = noise()
    rows.push(...found.map((row) => ({ noise: share, ...row })))
  }
  return rows
}
