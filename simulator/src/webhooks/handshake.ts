import { randomInt } from 'node:crypto'
import type { Callback } from '../world.ts'
import type { HttpClient } from './http-client.ts'

/** Runs the `hub.challenge` handshake. Returns undefined on success, else a sentence that says what is wrong. */
export async function verifyCallback(http: HttpClient, callback: Callback): Promise<string | undefined> {
  const problem = urlProblem(callback.url)
  if (problem) return problem
  const challenge = String(randomInt(1e9, 2e9))
  const url = new URL(callback.url)
  url.searchParams.set('hub.mode', 'subscribe')
  url.searchParams.set('hub.challenge', challenge)
  url.searchParams.set('hub.verify_token', callback.verifyToken)
  const response = await http.get(url.href, 10_000)
  if (response.kind === 'unreachable') return `The callback could not be reached: ${response.reason}.`
  if (response.status !== 200)
    return `The callback responded with HTTP ${response.status} to the verification request. It must respond with 200.`
  if (response.body !== challenge)
    return 'The callback did not return the value of hub.challenge. The response body must be exactly that value.'
  return undefined
}

function urlProblem(text: string): string | undefined {
  if (text.length > 200) return 'The callback URL must not be longer than 200 characters.'
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url && /^https?:$/.test(url.protocol) ? undefined : 'The callback URL must be an http or https URL.'
}
