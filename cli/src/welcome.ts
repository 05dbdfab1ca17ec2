import { scopes } from '@parley/contract/scopes'
import type { Config } from '@parley/server/config'
import { createKey } from '@parley/server/domain/keys/keys'
import { createWorkspace, listWorkspaces } from '@parley/server/domain/workspaces/workspaces'
import type { Clock } from '@parley/server/lib/clock'
import type { Service } from '@parley/server/start'

/** What a person sees once the service runs; on the very first start with the demo workspace and its key. */
export async function welcome(service: Service, config: Config, clock: Clock): Promise<string[]> {
  const { db } = service.store
  const address = config.port === 0 ? service.url : config.publicUrl
  const lines = ['', `Ready at ${address}`, `  API reference  ${address}/docs/api`]
  const embedded = config.databaseUrl === null
  if (!embedded || (await listWorkspaces(db)).length > 0) return [...lines, '']
  const secret = await db.transaction(async (tx) => {
    const workspace = await createWorkspace(tx, clock, 'Demo')
    const made = await createKey(tx, clock, {
      workspaceId: workspace.id,
      name: 'Demo key',
      scopes,
      createdBy: 'first start',
    })
    return made.secret
  })
  return [
    ...lines,
    '',
    'A demo workspace was made, with an API key that is shown this once:',
    '',
    `  ${secret}`,
    '',
    'Try it:',
    '',
    `  curl -H "Authorization: Bearer ${secret}" ${address}/v1/me`,
    '',
  ]
}
