import { maxBehindMs } from '../../lib/database-settings.ts'
import type { CookieName } from './route.ts'

/** Over https the names have the `__Host-` prefix: browsers then reject them from other hosts and over plain http. */
export class Cookies {
  readonly #secure: boolean

  constructor(publicUrl: string) {
    this.#secure = publicUrl.startsWith('https:')
  }

  read(header: string | undefined, name: CookieName): string | undefined {
    const fullName = this.#fullName(name)
    for (const part of (header ?? '').split(';')) {
      const at = part.indexOf('=')
      if (at > 0 && part.slice(0, at).trim() === fullName) return part.slice(at + 1).trim() || undefined
    }
    return undefined
  }

  write(name: CookieName, value: string | null): string {
    const maxAge = value === null ? 0 : maxAgeSeconds[name]
    const parts = [`${this.#fullName(name)}=${value ?? ''}`, 'Path=/', 'HttpOnly', 'SameSite=Lax', `Max-Age=${maxAge}`]
    return (this.#secure ? [...parts, 'Secure'] : parts).join('; ')
  }

  #fullName(name: CookieName): string {
    return this.#secure ? `__Host-parley-${name}` : `parley-${name}`
  }
}

/** How long a browser keeps them. The server decides whether they are still valid. */
const maxAgeSeconds: Record<CookieName, number> = {
  session: 30 * 86_400,
  step: 600,
  browser: 365 * 86_400,
  // Longer than the replica may be behind.
  changed: maxBehindMs / 1000 + 1,
}
