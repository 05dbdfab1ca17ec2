import { useSession } from '../lib/session.ts'
import type { Person } from './recipient.tsx'

/** The handset of the simulator: phones to try the service with. */
export interface Handset {
  url: string
  /** A phone for first messages. */
  phone: string | null
}

/** Null if no simulator runs with the service, or if it is out of reach: it listens on the machine of the service only. */
export function useHandset(): Handset | null {
  const { simulator_url: url, simulator_phone: phone } = useSession()
  if (url === null) return null
  const isInReach = isThisMachine(location.hostname) || !isThisMachine(new URL(url).hostname)
  return isInReach ? { url, phone } : null
}

/** The address of a conversation on the handset. */
export function handsetLink({ url }: Handset, person: Person | null, sender: string | null, theme?: string): string {
  const hash = new URLSearchParams({
    ...(person && { from: 'phone' in person ? person.phone : person.user_id }),
    ...(sender && { to: sender }),
    ...(theme && { theme }),
  })
  return `${url}/#${hash}`
}

const isThisMachine = (hostname: string) => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)
