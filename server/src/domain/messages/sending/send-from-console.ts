/** What a person sends from the console. It costs what it costs a key; no key sent it, so no key sees it. */
import type { Message } from '@parley/contract/message'
import type { SendRequest } from '@parley/contract/send'
import type { Db } from '../../../db/db.ts'
import type { Clock } from '../../../lib/clock.ts'
import { withoutPrefix, withPrefix } from '../../../lib/ids.ts'
import { refuse } from '../../../lib/refuse.ts'
import { requireWorkspace } from '../../workspaces/workspaces.ts'
import { askedFor } from '../reading/timeline.sql.ts'
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
  const { suspended } = await requireWorkspace(db, workspaceId)
  if (suspended) {
    refuse('workspace_suspended', { message: `The workspace is suspended and cannot send: ${suspended.reason}` })
  }
  const caller = { workspaceId, keyId: null, person: person.email }
  const { message } = await sendMessage({ db, clock, caller }, body, undefined)
  return message
}

/** The same request under a new id, through the same number. */
export async function sendAgain(deps: ConsoleSendDeps, id: string): Promise<Message> {
  const uuid = withoutPrefix('msg', id)
  const before = uuid && (await askedFor(deps.db, deps.workspaceId, uuid))
  if (!before) return refuse('not_found')
  const { request, flowToken } = before.content
  return sendFromConsole(deps, { ...withoutToken(request, flowToken), sender_id: withPrefix('snd', before.sender_id) })
}

/** A form's token that the service made is made anew: two messages with one token could not be told apart. */
function withoutToken(request: SendRequest, flowToken: string | undefined): SendRequest {
  const flow = request.template?.flow
  if (!request.template || flow?.token === undefined || flow.token !== flowToken || !isOurs(flowToken)) return request
  const { token: _, ...rest } = flow
  return { ...request, template: { ...request.template, flow: rest } }
}

const isOurs = (token: string): boolean => /^flow_[0-9A-Za-z]{24}$/.test(token)
