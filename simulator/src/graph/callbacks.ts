import { type Json, textIn } from '../json.ts'
import { GraphError, refuseParameter } from '../network/errors.ts'
import { verifyCallback } from '../webhooks/handshake.ts'
import type { Callback } from '../world.ts'
import type { Call } from './call.ts'

/** Reads a callback override and runs the handshake with it. An empty URL removes the override. */
export async function setOverride(call: Call, input: Json): Promise<Callback | null> {
  const url = textIn(input, 'override_callback_uri')
  if (url === undefined) return refuseParameter('The parameter override_callback_uri is required.')
  if (url === '') return null
  const verifyToken = textIn(input, 'verify_token')
  if (!verifyToken) return refuseParameter('The parameter verify_token is required.')
  const callback = { url, verifyToken }
  const problem = await verifyCallback(call.network.http, callback)
  if (problem) throw new GraphError(2200, { title: `Callback verification failed: ${problem}` })
  return callback
}
