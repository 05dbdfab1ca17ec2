/** Sending from the console. It costs the same as through the API, and no API key can read these messages. */
import type { Message } from '@parley/contract/message'
import type { SendRequest } from '@parley/contract/send'
import type { Db } from '../../../db/db.ts'
import type { Clock } from '../../../lib/clock.ts'
import { withoutPrefix, withPrefix } from '../../../lib/ids.ts'
import { refuse } from '../../../lib/refuse.ts'
import { requireWorkspace } from '../../workspaces/workspaces.ts'
import { sentMessage } from '../reading/timeline.sql.ts'
import { acceptanceIn } from './acceptance.ts'
import { markAsRead } from './mark-as-read.ts'
import { sendMessage } from './send.ts'

export interface ConsoleSendDeps {
  db: Db
  clock: Clock
  workspaceId: string
  person: { email: string }
}

export async function sendFromConsole(
  { db, clock, workspaceId, person }: ConsoleSendDeps,
  body: unknown,
): Promise<Message> {
  await refuseSuspended(db, workspaceId)
  const caller = { workspaceId, keyId: null, person: person.email }
  const acceptance = acceptanceIn(db, clock)
  const { tracing } = db.telemetry
  const startMs = tracing?.nowMs() ?? 0
  const { message } = await sendMessage({ db, clock, caller, acceptance }, body, undefined)
  tracing?.message(withoutPrefix('msg', message.id) ?? '', workspaceId, startMs)
  return message
}

export async function markAsReadFromConsole({ db, clock, workspaceId }: ConsoleSendDeps, id: string): Promise<void> {
  await refuseSuspended(db, workspaceId)
  await markAsRead(db, clock, workspaceId, id, false)
}

async function refuseSuspended(db: Db, workspaceId: string): Promise<void> {
  const { suspended } = await requireWorkspace(db, workspaceId)
  if (suspended) {
    refuse('workspace_suspended', {
      message: `The workspace is suspended and cannot send messages. Reason: ${suspended.reason}`,
    })
  }
}

/** Sends the same request as a new message, from the same number. */
export async function sendAgain(deps: ConsoleSendDeps, id: string): Promise<Message> {
  const uuid = withoutPrefix('msg', id)
  const before = uuid && (await sentMessage(deps.db, deps.workspaceId, uuid))
  if (!before) return refuse('not_found')
  const { request, flowToken } = before.content
  // The stored content of a message may have been removed.
  if ((request as SendRequest | null) === null) {
    refuse('conflict', { message: 'The content of this message was removed, so it cannot be sent again.' })
  }
  return sendFromConsole(deps, { ...withoutToken(request, flowToken), sender_id: withPrefix('snd', before.sender_id) })
}

/** Removes a generated form token, so that the new message gets its own. A shared token could not identify its message. */
function withoutToken(request: SendRequest, flowToken: string | undefined): SendRequest {
  const flow = request.template?.flow
  if (!request.template || flow?.token === undefined || flow.token !== flowToken || !isOurs(flowToken)) return request
  const { token: _, ...rest } = flow
  return { ...request, template: { ...request.template, flow: rest } }
}

const isOurs = (token: string): boolean => /^flow_[0-9A-Za-z]{24}$/.test(token)
