import { type Json, textIn } from '../json.ts'
import { GraphError, refuse, refuseParameter } from '../network/errors.ts'
import { removeAppCallback, setAppCallback } from '../webhooks/app-callback.ts'
import { verifyCallback } from '../webhooks/handshake.ts'
import type { App } from '../world.ts'
import { type Call, edge } from './call.ts'
import { pick, requestedFields } from './listing.ts'
import { webhookFields } from './webhook-fields.ts'

/** An app and its webhook subscription. No field of an app says whether it is in development mode. */
export const appEdges = [
  edge('GET', 'app', null, showApp),
  edge('GET', 'app', 'subscriptions', listSubscriptions),
  edge('POST', 'app', 'subscriptions', subscribe),
  edge('DELETE', 'app', 'subscriptions', unsubscribe),
]

const object = 'whatsapp_business_account'

function showApp(call: Call, { id, name }: App): unknown {
  const link = `https://www.facebook.com/games/?app_id=${id}`
  return pick({ id, name, category: 'Business', link }, requestedFields(call) ?? ['category', 'link', 'name'])
}

function listSubscriptions(call: Call, app: App): unknown {
  requireAppToken(call)
  if (app.callbackUrl === null) return { data: [] }
  const fields = (app.fields ?? webhookFields).map((name) => ({ name, version: call.version }))
  return { data: [{ object, callback_url: app.callbackUrl, active: true, fields }] }
}

/** Replaces the subscription of the app: its callback, its verify token and its fields. */
async function subscribe(call: Call, app: App): Promise<unknown> {
  requireAppToken(call)
  const input = { ...call.query, ...call.body }
  requireObject(input)
  const url = textIn(input, 'callback_url') || refuseParameter('The parameter callback_url is required.')
  const verifyToken = textIn(input, 'verify_token') || refuseParameter('The parameter verify_token is required.')
  const fields = fieldsIn(input) ?? refuseParameter('The parameter fields is required.')
  const callback = { url, verifyToken }
  const problem = await verifyCallback(call.network.http, callback)
  if (problem) throw new GraphError(2200, { title: `Callback verification failed: ${problem}` })
  setAppCallback(call.network, app, callback, fields)
  return { success: true }
}

/** Removes some fields, or the whole subscription. */
function unsubscribe(call: Call, app: App): unknown {
  requireAppToken(call)
  const input = { ...call.query, ...call.body }
  if (textIn(input, 'object') !== undefined) requireObject(input)
  const removed = fieldsIn(input)
  const kept = removed && (app.fields ?? webhookFields).filter((name) => !removed.includes(name))
  if (kept?.length) app.fields = kept
  else removeAppCallback(call.network, app)
  call.network.changed()
  return { success: true }
}

function requireAppToken({ token }: Call): void {
  if (!token.isApp) refuse(15)
}

function requireObject(input: Json): void {
  const given = textIn(input, 'object') ?? refuseParameter('The parameter object is required.')
  if (given !== object) refuseParameter(`Param object must be one of {${object}} - got "${given}".`)
}

/** A comma-separated or a JSON list. */
function fieldsIn({ fields }: Json): string[] | undefined {
  const names = Array.isArray(fields) ? fields.map(String) : typeof fields === 'string' ? fields.split(',') : []
  const trimmed = names.map((name) => name.trim()).filter((name) => name !== '')
  trimmed.forEach((name, index) => {
    if (!webhookFields.includes(name))
      refuseParameter(`Param fields[${index}] must be one of {${webhookFields.join(', ')}} - got "${name}".`)
  })
  return trimmed.length > 0 ? [...new Set(trimmed)] : undefined
}
