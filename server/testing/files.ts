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

/** Creates a submitted form with one file that is stored or gone. Returns the path of the file in the API. */
export async function newFile(
  server: TestServer,
  workspace: Pick<TestWorkspace, 'id'>,
  options: FileOptions,
): Promise<string> {
  const { bytes = Buffer.from('a file'), gone, fileName = 'photo.jpg', contentType = 'image/jpeg' } = options
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
  const responseId = saved?.data.id.slice('frs_'.length)
  const lease = newUuid()
  await db.change(
    `with file as (
       update flow_files set state = $2, why = $3, content = $4, size = $5, chunk_bytes = $6, content_type = $7,
         fetched_at = $8, source = null
       where response_id = $1 returning id, workspace_id)
     insert into file_chunks (file_id, lease, number, workspace_id, bytes)
     select file.id, $4, n, file.workspace_id, substring($9::bytea from n * $6::int + 1 for $6::int)
     from file cross join generate_series(0, (($5::int - 1) / $6::int)) as n where $2 = 'fetched' and $5::int > 0`,
    [responseId, gone ? 'gone' : 'fetched', gone ?? null, lease, bytes.length, chunkBytes, contentType, now, bytes],
  )
  return `/v1/flow_responses/${saved?.data.id}/files/0`
}
