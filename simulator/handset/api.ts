import type { NetworkLogEntry } from '../src/network-log.ts'
import type { Catalog, Flow, Message, Phone, PhoneNumber, Template } from '../src/world.ts'

export type { Catalog, Flow, Message, NetworkLogEntry, Phone, PhoneNumber, Template }

/** The control API returned an error or could not be reached. The message can be shown to the user. */
export class ControlError extends Error {}

export const control = {
  phones: () => request<Phone[]>('GET', '/phones'),
  numbers: () => request<PhoneNumber[]>('GET', '/numbers'),
  templates: () => request<Template[]>('GET', '/templates'),
  flows: () => request<Flow[]>('GET', '/flows'),
  catalogs: () => request<Catalog[]>('GET', '/catalogs'),
  messages: (waId: string) => request<Message[]>('GET', `/phones/${waId}/messages`),
  scenario: (waId: string, to: string, contents: boolean) =>
    request<object>('GET', `/phones/${waId}/scenario?to=${to}&contents=${contents}`),
  log: (limit: number) => request<NetworkLogEntry[]>('GET', `/log?limit=${limit}`),
  clearLog: () => request('DELETE', '/log'),
  changePhone: (waId: string, change: object) => request<Phone>('PATCH', `/phones/${waId}`, change),
  business: (numberId: string, action: string, input: object) =>
    request<{ id?: string }>('POST', `/numbers/${numberId}/${action}`, input),
  notify: (wabaId: string, field: string, value: unknown) =>
    request('POST', `/wabas/${wabaId}/notify`, { field, value }),
  act: (waId: string, action: string, input: object) =>
    request<{ id?: string }>('POST', `/phones/${waId}/${action}`, input),
}

export const mediaUrl = (id: string): string => `/control/media/${encodeURIComponent(id)}`

async function request<T>(method: string, path: string, body?: object): Promise<T> {
  let response: Response
  try {
    response = await fetch(`/control${path}`, { method, ...(body ? { body: JSON.stringify(body) } : {}) })
  } catch {
    throw new ControlError('Cannot reach the simulator. Check that it is running.')
  }
  const result = await response.json().catch(() => null)
  if (!response.ok)
    throw new ControlError(result?.error?.message ?? `The simulator responded with HTTP ${response.status}.`)
  return result as T
}
