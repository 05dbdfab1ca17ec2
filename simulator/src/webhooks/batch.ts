import type { NetworkLog } from '../network-log.ts'
import { envelope, type Update } from './envelope.ts'
import type { Outlet } from './post.ts'
import { escapedJson, signatureHeaders } from './sign.ts'

export interface Destination {
  url: string
  secret: string
}

/** Updates that travel in one POST, however often it takes. */
export interface Batch {
  appId: string
  updates: Update[]
  attempts: number
  createdAtMs: number
}

/** Posts the batch once, writes down what was answered, and says whether it was taken. Only 200 will do. */
export async function postBatch(
  parts: { outlet: Outlet; log: NetworkLog },
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
  const answer = await parts.outlet.post(destination.url, headers, body, timeoutMs)
  parts.log.add({
    kind: 'webhook',
    appId: batch.appId,
    url: destination.url,
    attempt: batch.attempts,
    updates: batch.updates.length,
    signature: signatures['x-hub-signature-256'] ?? '',
    request: body.toString('ascii'),
    status: answer.kind === 'answered' ? answer.status : null,
    response: answer.kind === 'answered' ? answer.body : '',
    error: answer.kind === 'unreachable' ? answer.why : null,
    durationMs: Math.round(performance.now() - startedAt),
  })
  return answer.kind === 'answered' && answer.status === 200
}
