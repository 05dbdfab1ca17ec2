import { storedBodiesPerMinute, storedErrorsPerMinute } from '@parley/contract/console/inspector'
import type { Inspect, InspectedRequest, InspectedResponse, StoredText } from '../../../http/access-check.ts'
import { MinuteLimit } from './minute-limit.ts'
import { inRequests, inResponses, redactError, redactJson, redactTarget } from './redact.ts'

/** A longer response is not parsed to redact it: that would take milliseconds. Lists of 100 rows are shorter. */
const parsedMax = 262_144

/**
 * Decides what is stored of a request, and redacts it. Error responses of all workspaces are stored, and the bodies of those
 * that turned the inspector on, each up to a number of characters per minute. What is over that is not even looked at.
 */
export function newInspect(): Inspect {
  const errors = new MinuteLimit(storedErrorsPerMinute)
  const bodies = new MinuteLimit(storedBodiesPerMinute)
  return ({ workspaceId, isInspected }, at, code, request, response) => {
    // A client that is over its rate limit repeats this error, and its message says everything.
    const isError = response.kind === 'error' && code !== 'rate_limited' && errors.has(workspaceId, at)
    const hasBodies = isInspected && bodies.has(workspaceId, at)
    if (!isError && !hasBodies) return null
    const target = redactTarget(request.pattern, request.params, request.query)
    const error = isError ? redactError(response.text) : null
    const stored = hasBodies ? { request: requestText(request), response: responseText(response) } : null
    const contents = {
      target,
      error: error && errors.take(workspaceId, target.length + error.text.length) ? error : null,
      bodies: stored && bodies.take(workspaceId, target.length + lengthOf(stored)) ? stored : null,
    }
    return contents.error || contents.bodies ? contents : null
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
