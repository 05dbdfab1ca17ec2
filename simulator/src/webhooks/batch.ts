import type { NetworkLog } from '../network-log.ts'
import { envelope, type Update } from './envelope.ts'
import type { HttpClient } from './http-client.ts'
import { escapedJson, signatureHeaders } from './sign.ts'

export interface Destination {
  url: string
  secret: string
}

/** Updates that are posted together, including all retries. */
export interface Batch {
  appId: string
  updates: Update[]
  attempts: number
  createdAtMs: number
}

/** Posts the batch once and logs the response. Returns true if it was accepted, that is, if the status is exactly 200. */
export async function postBatch(
  dependencies: { http: HttpClient; log: NetworkLog },
  batch: Batch,
  destination: Destination,
  timeoutMs: number,
): Promise<boolean> {
  const body = escapedJson(envelope(batch.updates))
  const signatures = signatureHeaders(destination.secret, body)
  const startedAt = performance.now()
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'facebookexternalua',
    accept: '*/*',
    ...signatures,
  }
  const result = await dependencies.http.post(destination.url, headers, body, timeoutMs)
  dependencies.log.add({
    kind: 'webhook',
    appId: batch.appId,
    url: destination.url,
    attempt: batch.attempts,
    updates: batch.updates.length,
    signature: signatures['x-hub-signature-256'] ?? '',
    request: body.toString('ascii'),
    status: result.kind === 'response' ? result.status : null,
    response: result.kind === 'response' ? result.body : '',
    error: result.kind === 'unreachable' ? result.reason : null,
    durationMs: Math.round(performance.now() - startedAt),
  })
  return result.kind === 'response' && result.status === 200
}
