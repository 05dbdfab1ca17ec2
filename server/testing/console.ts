import type { Role } from '@parley/contract/console/permissions'
import { insertPerson } from '../src/domain/people/people.sql.ts'
import { rememberBrowser } from '../src/domain/people/sign-in/known-browsers.ts'
import { openSession } from '../src/domain/people/sign-in/sessions.ts'
import { addMember } from '../src/domain/people/team/members.ts'
import { newUuid } from '../src/lib/ids.ts'
import type { TestServer } from './test-server.ts'

/** A client for the console API that behaves like a browser: it stores cookies and sends an Origin header. */
export interface Browser {
  call(path: string, options?: BrowserCall): Promise<BrowserResponse>
  cookies: Map<string, string>
}

interface BrowserCall {
  method?: string
  body?: unknown
  headers?: Record<string, string>
}

export interface BrowserResponse {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of many shapes.
  body: any
}

export function newBrowser(url: string): Browser {
  const cookies = new Map<string, string>()
  return {
    cookies,
    async call(path, { method = 'GET', body, headers = {} } = {}) {
      const response = await fetch(`${url}/console/api${path}`, {
        method,
        headers: {
          origin: url,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(cookies.size > 0 ? { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') } : {}),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      for (const line of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
        if (value === '') cookies.delete(name)
        else cookies.set(name, value)
      }
      const text = await response.text()
      const isJson = response.headers.get('content-type')?.startsWith('application/json')
      return {
        status: response.status,
        headers: response.headers,
        body: isJson && text ? JSON.parse(text) : text || null,
      }
    },
  }
}

/** The token of a one-time link, from its URL. */
export const tokenOf = (url: string): string => url.split('/link#')[1] ?? ''

/** Opens the page of a one-time link. */
export const readLink = (browser: Browser, token: string) =>
  browser.call('/links/read', { method: 'POST', body: { token } })

/** Submits the form of a one-time link. */
export const followLink = (browser: Browser, token: string, given: object) =>
  browser.call('/links/use', { method: 'POST', body: { token, ...given } })

export const goodPassword = 'seven quiet otters'

/** Of `goodPassword`, with the lowest cost: it is checked in less than a millisecond. */
const goodPasswordHash = '$argon2id$v=19$m=8,t=1,p=1$raiczh4job90BhRBvudokg$A8T6Oc2rHg3At8ks+TE0hLae8LpzVLIQbvd2vNk0ZPI'

/** A signed-in person: an operator, or a member of a workspace. */
export interface SignedInPerson extends Browser {
  email: string
  password: string
}

let count = 0

/**
 * Stores a person with a session, which is much cheaper than a link with a new password. The audit log has
 * no entry of it. With the secret keys of the server, their browser is known.
 */
export async function signedIn(
  { db, clock, url, secretKeys }: Pick<TestServer, 'db' | 'clock' | 'url'> & Partial<TestServer>,
  as: { operator: true; workspaceId?: string } | { workspaceId: string; role: Role },
): Promise<SignedInPerson> {
  const [id, at] = [newUuid(clock.now().getTime()), clock.now()]
  const [number, operator] = [++count, 'operator' in as]
  const email = `person${number}@example.com`
  const browser = newBrowser(url)
  await db.transaction(async (tx) => {
    const account = { id, email, name: `Person ${number}`, operator, created_at: at, email_verified_at: null }
    await insertPerson(tx, { ...account, password_hash: goodPasswordHash })
    if (as.workspaceId) await addMember(tx, clock, as.workspaceId, id, 'role' in as ? as.role : 'admin')
    const session = await openSession(tx, clock, id, { address: '127.0.0.1', userAgent: 'node' })
    browser.cookies.set('parley-session', session)
    if (secretKeys) browser.cookies.set('parley-browser', rememberBrowser(secretKeys, null, id, at))
  })
  return { ...browser, email, password: goodPassword }
}
