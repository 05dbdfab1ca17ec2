import type { NetworkLogEntry } from '../src/network-log.ts'
import type { Catalog, Flow, Message, Phone, PhoneNumber, Template } from '../src/world.ts'

export type { Catalog, Flow, Message, NetworkLogEntry, Phone, PhoneNumber, Template }

/** The control API said no, in its own words; or it could not be reached. */
export class Refused extends Error {}

export const control = {
  phones: () => ask<Phone[]>('GET', '/phones'),
  numbers: () => ask<PhoneNumber[]>('GET', '/numbers'),
  templates: () => ask<Template[]>('GET', '/templates'),
  flows: () => ask<Flow[]>('GET', '/flows'),
  catalogs: () => ask<Catalog[]>('GET', '/catalogs'),
  messages: (waId: string) => ask<Message[]>('GET', `/phones/${waId}/messages`),
  log: (limit: number) => ask<NetworkLogEntry[]>('GET', `/log?limit=${limit}`),
  clearLog: () => ask('DELETE', '/log'),
  changePhone: (waId: string, change: object) => ask<Phone>('PATCH', `/phones/${waId}`, change),
  act: (waId: string, action: string, input: object) =>
    ask<{ id?: string }>('POST', `/phones/${waId}/${action}`, input),
}

export const mediaAddress = (id: string): string => `/control/media/${encodeURIComponent(id)}`

async function ask<T>(method: string, path: string, body?: object): Promise<T> {
  let response: Response
  try {
    response = await fetch(`/control${path}`, { method, ...(body ? { body: JSON.stringify(body) } : {}) })
  } catch {
    throw new Refused('The simulator does not answer.')
  }
  const said = await response.json().catch(() => null)
  if (!response.ok) throw new Refused(said?.error?.message ?? `The simulator answered with ${response.status}.`)
  return said as T
}
