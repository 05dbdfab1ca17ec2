import { storedBodiesPerMinute, storedErrorsPerMinute } from '@parley/contract/console/inspector'
import type { Inspect, InspectedRequest, InspectedResponse, StoredText } from '../../../http/access-check.ts'
import { CountedWindows } from '../../../sharing/counted-windows.ts'
import { inRequests, inResponses, redactError, redactJson, redactTarget } from './redact.ts'

/** A longer response is not parsed to redact it: that would take milliseconds. Lists of 100 rows are shorter. */
const parsedMax = 262_144

const limits = { windowMs: 60_000, maxKeys: 20_000 }

/**
 * Decides what is stored of a request, and redacts it. Error responses of all workspaces are stored, and the bodies of those
 * that turned the inspector on, each until a number of characters per minute is reached. Those after it are not even looked at.
 */
export function newInspect(): Inspect {
  const errors = new CountedWindows({ ...limits, max: storedErrorsPerMinute })
  const bodies = new CountedWindows({ ...limits, max: storedBodiesPerMinute })
  return ({ workspaceId, isInspected }, now, code, request, response) => {
    // A client that is over its rate limit repeats this error, and its message says everything.
    const isError = response.kind === 'error' && code !== 'rate_limited' && !errors.isFull(workspaceId, now)
    const hasBodies = isInspected && !bodies.isFull(workspaceId, now)
    if (!isError && !hasBodies) return null
    const target = redactTarget(request.pattern, request.params, request.query)
    const error = isError ? redactError(response.text) : null
    const stored = hasBodies ? { request: requestText(request), response: responseText(response) } : null
    if (error) errors.count(workspaceId, now, target.length + error.text.length)
    if (stored) bodies.count(workspaceId, now, target.length + lengthOf(stored))
    return { target, error, bodies: stored }
  }
}

function requestText({ body }: InspectedRequest): StoredText | null {
  if (body.kind === 'none') return null
  return body.kind === 'json' ? redactJson(body.value, inRequests) : { text: null, state: body.kind }
}

/** Null for an error: it is stored separately. */
function responseText(response: InspectedResponse): StoredText | null {
  if (response.kind === 'none' || response.kind === 'error') return null
  if (response.kind === 'file') return { text: null, state: 'file' }
  return response.text.length > parsedMax
    ? { text: null, state: 'too_large' }
    : redactJson(JSON.parse(response.text) as unknown, inResponses)
}

const lengthOf = ({ request, response }: Record<'request' | 'response', StoredText | null>): number =>
  (request?.text?.length ?? 0) + (response?.text?.length ?? 0)
