import { scopes } from '@parley/contract/scopes'
import { onTestFinished } from 'vitest'
import { type Connection, type Database, openDatabase } from '../src/db/db.ts'
import { createKey } from '../src/domain/keys/keys.ts'
import { createWorkspace } from '../src/domain/workspaces/workspaces.ts'
import { systemClock } from '../src/lib/clock.ts'
import { newUuid } from '../src/lib/ids.ts'
import { newServiceDatabase } from './database.ts'
import type { FileHost } from './file-host.ts'
import { type IngressTarget, newApp, newSender, webhookOf } from './network-app.ts'
import { type ServiceProcess, secretKeys, spawnService } from './service.ts'
import { until } from './until.ts'

/** A workspace with a number, whose network is a file host. */
export interface FormFiles {
  db: Database
  secret: string
  workspaceId: string
  /** Creates another workspace with a number, and returns the network's ID of that number. */
  addWorkspace(): Promise<string>
  /** Submits a form with these files to a number, and returns the ID of the submission. */
  submit(service: { url: string }, ids: readonly string[], sha256?: string, phoneNumberId?: string): Promise<string>
  /** The state of the file of a submission. */
  state(responseId: string): Promise<string>
}

/** The service in separate processes, with a file host as its network. */
export interface FileService extends FormFiles {
  connection: Connection
  /** With these settings in addition. */
  start(env?: Record<string, string>): Promise<ServiceProcess>
}

export async function newFileService(host: FileHost): Promise<FileService> {
  const database = await newServiceDatabase()
  const db = openDatabase(database.connection, () => {}, 4)
  onTestFinished(async () => {
    await db.close()
    await database.drop()
  })
  return {
    ...(await newFormFiles({ db, clock: systemClock, secretKeys }, host)),
    connection: database.connection,
    async start(env) {
      const service = await spawnService(database.connection, env)
      onTestFinished(() => void service.child.kill('SIGKILL'))
      return service
    },
  }
}

export async function newFormFiles(target: Omit<IngressTarget, 'url'>, host: FileHost): Promise<FormFiles> {
  const { db, clock } = target
  const { id: workspaceId } = await createWorkspace(db, clock, 'Files')
  const { secret } = await createKey(db, clock, {
    workspaceId,
    name: 'k',
    scopes,
    rateLimitPerMin: 100,
    createdBy: 'test',
  })
  const server = { ...target, url: '' }
  const app = await newApp(server)
  await db.change('update apps set graph_url = $2 where id = $1', [app.id, host.url])
  const newNumber = (id: string) => newSender(server, id, app.id, String(Math.trunc(Math.random() * 1e15)))
  const sender = await newNumber(workspaceId)
  return {
    db,
    secret,
    workspaceId,
    async addWorkspace() {
      const { id } = await createWorkspace(db, clock, 'More files')
      return (await newNumber(id)).phoneNumberId
    },
    async submit({ url }, ids, sha256, phoneNumberId = sender.phoneNumberId) {
      const files = ids.map((id) => ({ id, mime_type: 'image/png', file_name: `${id}.png`, sha256 }))
      const id = `wamid.${newUuid()}`
      const message = {
        from: '16505550123',
        id,
        timestamp: '1786000000',
        type: 'interactive',
        interactive: { type: 'nfm_reply', nfm_reply: { response_json: JSON.stringify({ files }) } },
      }
      await app.post(webhookOf(phoneNumberId, [message]), { url })
      const row = await db.first<{ id: string }>(
        `select r.id from flow_responses r join inbound_messages m on m.id = r.message_id where m.wa_message_id = $1`,
        [id],
      )
      return row?.id ?? ''
    },
    state: async (responseId) =>
      (await db.first<{ state: string }>('select state from flow_files where response_id = $1', [responseId]))?.state ??
      'unknown',
  }
}

export const whenFetched = (files: FormFiles, responseId: string): Promise<true> =>
  until('the file is fetched', async () => (await files.state(responseId)) === 'fetched')
