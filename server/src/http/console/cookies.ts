import type { CookieName } from './route.ts'

/** Over https the browser itself sees to it that no other host and no plain http sets or reads them. */
export class Cookies {
  readonly #secure: boolean

  constructor(publicUrl: string) {
    this.#secure = publicUrl.startsWith('https:')
  }

  read(header: string | undefined, name: CookieName): string | undefined {
    const wanted = this.#full(name)
    for (const part of (header ?? '').split(';')) {
      const at = part.indexOf('=')
      if (at > 0 && part.slice(0, at).trim() === wanted) return part.slice(at + 1).trim() || undefined
    }
    return undefined
  }

  write(name: CookieName, value: string | null): string {
    const life = value === null ? 0 : lifeSeconds[name]
    const parts = [`${this.#full(name)}=${value ?? ''}`, 'Path=/', 'HttpOnly', 'SameSite=Lax', `Max-Age=${life}`]
    return (this.#secure ? [...parts, 'Secure'] : parts).join('; ')
  }

  #full(name: CookieName): string {
    return this.#secure ? `__Host-parley-${name}` : `parley-${name}`
  }
}

/** How long a browser keeps them; whether they are still good is ours to say. */
const lifeSeconds: Record<CookieName, number> = { session: 30 * 86_400, step: 600 }
