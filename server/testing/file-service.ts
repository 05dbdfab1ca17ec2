import { scopes } from '@parley/contract/scopes'
import { onTestFinished } from 'vitest'
import { type Connection, type Database, openDatabase } from '../src/db/db.ts'
import { createKey } from '../src/domain/keys/keys.ts'
import { createWorkspace } from '../src/domain/workspaces/workspaces.ts'
import { systemClock } from '../src/lib/clock.ts'
import { newUuid } from '../src/lib/ids.ts'
import { newDatabase } from './database.ts'
import type { FileHost } from './file-host.ts'
import { newApp, newSender, webhookOf } from './network-app.ts'
import { type ServiceProcess, secretKeys, spawnService } from './service.ts'
import { until } from './until.ts'

/** The service in separate processes, with a file host as its network. */
export interface FileService {
  db: Database
  connection: Connection
  secret: string
  workspaceId: string
  /** With these settings in addition. */
  start(env?: Record<string, string>): Promise<ServiceProcess>
  /** Creates another workspace with a number, and returns the network's ID of that number. */
  addWorkspace(): Promise<string>
  /** Submits a form with these files to a number, and returns the ID of the submission. */
  submit(service: ServiceProcess, ids: readonly string[], sha256?: string, phoneNumberId?: string): Promise<string>
  /** The state of the file of a submission. */
  state(responseId: string): Promise<string>
}

export async function newFileService(host: FileHost): Promise<FileService> {
  const database = await newDatabase()
  const db = openDatabase(database.connection, () => {}, 4)
  onTestFinished(async () => {
    await db.close()
    await database.drop()
  })
  const { id: workspaceId } = await createWorkspace(db, systemClock, 'Files')
  const { secret } = await createKey(db, systemClock, {
    workspaceId,
    name: 'k',
    scopes,
    budget: 100,
    createdBy: 'test',
  })
  const server = { db, clock: systemClock, secretKeys, url: '' }
  const app = await newApp(server)
  await db.change('update apps set graph_url = $2 where id = $1', [app.id, host.url])
  const sender = await newSender(server, workspaceId, app.id, '77000000001')
  return {
    db,
    connection: database.connection,
    secret,
    workspaceId,
    async start(env) {
      const service = await spawnService(database.connection, env)
      onTestFinished(() => void service.child.kill('SIGKILL'))
      return service
    },
    async addWorkspace() {
      const { id } = await createWorkspace(db, systemClock, 'More files')
      return (await newSender(server, id, app.id, '77000000002')).phoneNumberId
    },
    async submit(service, ids, sha256, phoneNumberId = sender.phoneNumberId) {
      server.url = service.url
      const files = ids.map((id) => ({ id, mime_type: 'image/png', file_name: `${id}.png`, sha256 }))
      const message = {
        from: '16505550123',
        id: `wamid.${newUuid()}`,
        timestamp: '1786000000',
        type: 'interactive',
        interactive: { type: 'nfm_reply', nfm_reply: { response_json: JSON.stringify({ files }) } },
      }
      await app.post(webhookOf(phoneNumberId, [message]))
      const row = await db.first<{ id: string }>(
        'select id from flow_responses order by created_at desc, id desc limit 1',
      )
      return row?.id ?? ''
    },
    state: async (responseId) =>
      (await db.first<{ state: string }>('select state from flow_files where response_id = $1', [responseId]))?.state ??
      'unknown',
  }
}

export const whenFetched = (files: FileService, responseId: string): Promise<true> =>
  until('the file is fetched', async () => (await files.state(responseId)) === 'fetched')
