import { randomInt } from 'node:crypto'
import type { Callback } from '../world.ts'
import type { Outlet } from './post.ts'

/** Asks a callback to prove itself; undefined when it did, else what was wrong, in a sentence. */
export async function verifyCallback(outlet: Outlet, callback: Callback): Promise<string | undefined> {
  const problem = urlProblem(callback.url)
  if (problem) return problem
  const challenge = String(randomInt(1e9, 2e9))
  const url = new URL(callback.url)
  url.searchParams.set('hub.mode', 'subscribe')
  url.searchParams.set('hub.challenge', challenge)
  url.searchParams.set('hub.verify_token', callback.verifyToken)
  const response = await outlet.get(url.href, 10_000)
  if (response.kind === 'unreachable') return `The callback could not be reached: ${response.why}.`
  if (response.status !== 200) return `The callback answered ${response.status} to the verification request, not 200.`
  if (response.body !== challenge) return 'The callback did not answer with the bare hub.challenge.'
  return undefined
}

function urlProblem(text: string): string | undefined {
  if (text.length > 200) return 'The callback URL is longer than 200 characters.'
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url && /^https?:$/.test(url.protocol) ? undefined : 'The callback URL is not an http or https URL.'
}
