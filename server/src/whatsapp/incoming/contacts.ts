import type { InboundContact } from '@parley/contract/inbound'
import { type JsonObject, readArray, readId, readNonBlank, readObject } from '../read-json.ts'

const maxCards = 100
const maxEntries = 50
const maxLength = 1024

/** Shared contact cards. Nearly every field may be missing, even the name. */
export function readContacts(cards: readonly unknown[]): InboundContact[] {
  return objectsIn(cards, maxCards).map((card) => ({
    name: readNonBlank(readObject(card.name)?.formatted_name, maxLength),
    phones: objectsIn(readArray(card.phones), maxEntries).map(({ phone, wa_id, type }) => ({
      phone: readNonBlank(phone, maxLength),
      wa_id: readId(wa_id),
      type: readNonBlank(type, maxLength),
    })),
    emails: objectsIn(readArray(card.emails), maxEntries).map(({ email, type }) => ({
      email: readNonBlank(email, maxLength),
      type: readNonBlank(type, maxLength),
    })),
    org: readOrg(readObject(card.org)),
    addresses: objectsIn(readArray(card.addresses), maxEntries).map((address) => ({
      street: readNonBlank(address.street, maxLength),
      city: readNonBlank(address.city, maxLength),
      state: readNonBlank(address.state, maxLength),
      zip: readNonBlank(address.zip, maxLength),
      country: readNonBlank(address.country, maxLength),
      country_code: readNonBlank(address.country_code, maxLength),
      type: readNonBlank(address.type, maxLength),
    })),
    urls: objectsIn(readArray(card.urls), maxEntries).map(({ url, type }) => ({
      url: readNonBlank(url, 4096),
      type: readNonBlank(type, maxLength),
    })),
    birthday: readNonBlank(card.birthday, 64),
    origin: readId(card.origin, 64),
  }))
}

const readOrg = (org: JsonObject | null): InboundContact['org'] =>
  org && {
    company: readNonBlank(org.company, maxLength),
    department: readNonBlank(org.department, maxLength),
    title: readNonBlank(org.title, maxLength),
  }

const objectsIn = (values: readonly unknown[], max: number): JsonObject[] =>
  values
    .slice(0, max)
    .map(readObject)
    .filter((value) => value !== null)
