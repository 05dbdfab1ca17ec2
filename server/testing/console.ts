import type { Role } from '@parley/contract/console/permissions'
import { invite, linkUrl, newSetupLink } from '../src/domain/people/links.ts'
import type { TestServer } from './test-server.ts'

/** A client for the console API that behaves like a browser: it stores cookies and sends an Origin header. */
export interface Browser {
  call(path: string, options?: BrowserCall): Promise<BrowserResponse>
  cookies: Map<string, string>
}

export interface BrowserCall {
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
      return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text || null }
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

/** A signed-in person: an operator, or a member of a workspace. */
export interface SignedInPerson extends Browser {
  email: string
  password: string
}

let count = 0

export async function signedIn(
  { db, clock, url }: TestServer,
  as: { operator: true; workspaceId?: string } | { workspaceId: string; role: Role },
): Promise<SignedInPerson> {
  const email = `person${++count}@example.com`
  const token =
    'operator' in as
      ? await newSetupLink(db, clock, as.workspaceId ?? null, 'test')
      : await invite(db, clock, { ...as, email, createdBy: 'test' })
  const browser = newBrowser(url)
  const body = { name: `Person ${count}`, password: goodPassword, ...('operator' in as ? { email } : {}) }
  const { status } = await followLink(browser, token, body)
  if (status !== 200) throw new Error(`POST to ${linkUrl('', token)} returned ${status}`)
  return { ...browser, email, password: goodPassword }
}
