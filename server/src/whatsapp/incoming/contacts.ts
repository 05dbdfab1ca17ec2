import type { InboundContact } from '@parley/contract/inbound'
import { type JsonObject, readArray, readObject } from '../read-json.ts'
import { id, readMembers, type TextMembers, text } from './known.ts'

export const maxCards = 100
export const maxEntries = 50

const short = text(1024)
export const name = { formatted_name: short }
export const phone = { phone: short, wa_id: id(), type: short }
export const email = { email: short, type: short }
export const org = { company: short, department: short, title: short }
export const address = {
  street: short,
  city: short,
  state: short,
  zip: short,
  country: short,
  country_code: short,
  type: short,
}
export const url = { url: text(4096), type: short }
export const person = { birthday: text(64), origin: id(64) }

/** Shared contact cards. Nearly every field may be missing, even the name. */
export const readContacts = (cards: readonly unknown[]): InboundContact[] =>
  objectsIn(cards, maxCards).map((card) => ({
    name: readMembers(readObject(card.name) ?? {}, name).formatted_name,
    phones: readEntries(card.phones, phone),
    emails: readEntries(card.emails, email),
    org: readOrg(readObject(card.org)),
    addresses: readEntries(card.addresses, address),
    urls: readEntries(card.urls, url),
    ...readMembers(card, person),
  }))

const readOrg = (value: JsonObject | null): InboundContact['org'] => value && readMembers(value, org)

const readEntries = <Members extends TextMembers>(entries: unknown, members: Members) =>
  objectsIn(readArray(entries), maxEntries).map((entry) => readMembers(entry, members))

const objectsIn = (values: readonly unknown[], max: number): JsonObject[] =>
  values
    .slice(0, max)
    .map(readObject)
    .filter((value) => value !== null)
