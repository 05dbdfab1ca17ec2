import type { FileLoss } from '@parley/contract/flow-response'
import { saveSubmissions } from '../src/domain/flows/save-submissions.ts'
import { newUuid } from '../src/lib/ids.ts'
import { newApp, newSender } from './network-app.ts'
import type { TestServer } from './test-server.ts'
import type { TestWorkspace } from './workspace.ts'

export interface FileOptions {
  bytes?: Buffer
  gone?: FileLoss
  fileName?: string
  contentType?: string
}

const chunkBytes = 256 * 1024

/** Creates an inbound message with a file that is stored or gone. Returns the ID of the message. */
export async function newReceivedFile(
  server: TestServer,
  workspace: Pick<TestWorkspace, 'id'>,
  options: FileOptions,
): Promise<string> {
  const { db, clock } = server
  const now = clock.now()
  const app = await newApp(server)
  const sender = await newSender(server, workspace.id, app.id, String(Math.trunc(Math.random() * 1e15)))
  const [messageId, fileId] = [newUuid(), newUuid()]
  const { fileName = 'photo.jpg', contentType = 'image/jpeg' } = options
  const media = { id: '900', mime_type: contentType, filename: fileName, caption: null, sha256: null, voice: false }
  await db.change(
    `insert into inbound_messages (id, workspace_id, sender_id, wa_message_id, sent_by, type, received_at, recorded_at, content)
     values ($1, $2, $3, $1::uuid::text, '16505550123', $5, $4, $4, $6)`,
    [messageId, workspace.id, sender.id, now, contentType.split('/')[0], JSON.stringify({ media })],
  )
  await db.change(
    `insert into flow_files (id, workspace_id, message_id, index, sender_id, field, file_name, mime_type, due_at, try_until,
       created_at)
     values ($1, $2, $3, 0, $4, 'media', $5, $6, $7, $7, $7)`,
    [fileId, workspace.id, messageId, sender.id, fileName, contentType, now],
  )
  await store(server, fileId, options)
  return `msg_${messageId}`
}

/** Creates a submitted form with one file that is stored or gone. Returns the path of the file in the API. */
export async function newFile(
  server: TestServer,
  workspace: Pick<TestWorkspace, 'id'>,
  options: FileOptions,
): Promise<string> {
  const { fileName = 'photo.jpg', contentType = 'image/jpeg' } = options
  const { db, clock } = server
  const now = clock.now()
  const app = await newApp(server)
  const sender = await newSender(server, workspace.id, app.id, String(Math.trunc(Math.random() * 1e15)))
  const messageId = newUuid()
  await db.change(
    `insert into inbound_messages (id, workspace_id, sender_id, wa_message_id, type, received_at, recorded_at, content)
     values ($1, $2, $3, $1::uuid::text, 'interactive', $4, $4, '{}')`,
    [messageId, workspace.id, sender.id, now],
  )
  const source = { media_id: '900', sha256: null, sealed: null }
  const file = { field: 'photos', index: 0, file_name: fileName, mime_type: contentType, ...source }
  const submission = {
    workspaceId: workspace.id,
    senderId: sender.id,
    messageId,
    from: '16505550123',
    fromUserId: null,
    quoted: null,
    receivedAt: now,
    form: { name: 'flow', flowToken: null, response: {}, raw: null, files: [file] },
  }
  const [saved] = await saveSubmissions(db, now, [submission])
  const row = await db.first<{ id: string }>('select id from flow_files where response_id = $1', [
    saved?.data.id.slice('frs_'.length),
  ])
  await store(server, row?.id ?? '', options)
  return `/v1/flow_responses/${saved?.data.id}/files/0`
}

/** Stores the bytes of a file, or marks it as gone. */
async function store({ db, clock }: TestServer, fileId: string, options: FileOptions): Promise<void> {
  const { bytes = Buffer.from('a file'), gone, contentType = 'image/jpeg' } = options
  const now = clock.now()
  await db.change(
    `with file as (
       update flow_files set state = $2, why = $3, content = $4, size = $5, chunk_bytes = $6, content_type = $7,
         fetched_at = $8, source = null
       where id = $1 returning id, workspace_id)
     insert into file_chunks (file_id, lease, number, workspace_id, bytes)
     select file.id, $4, n, file.workspace_id, substring($9::bytea from n * $6::int + 1 for $6::int)
     from file cross join generate_series(0, (($5::int - 1) / $6::int)) as n where $2 = 'fetched' and $5::int > 0`,
    [fileId, gone ? 'gone' : 'fetched', gone ?? null, newUuid(), bytes.length, chunkBytes, contentType, now, bytes],
  )
}
