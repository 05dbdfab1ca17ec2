/** The Graph API's requests that change a number. */
import type { BusinessProfile } from '@parley/contract/console/senders'
import { type JsonObject, readArray, readNonBlank, readObject } from '../read-json.ts'

export type NumberChange =
  | { action: 'register' | 'pin'; pin: string }
  | { action: 'deregister' }
  | { action: 'request_code'; method: string; language: string }
  | { action: 'verify_code'; code: string }
  | { action: 'name'; name: string }
  | { action: 'profile'; profile: Partial<BusinessProfile> }

const messaging_product = 'whatsapp'

/** The path below the number, and the body. */
export function numberCall(change: NumberChange): { path: string[]; body: JsonObject } {
  switch (change.action) {
    case 'register':
      return { path: ['register'], body: { messaging_product, pin: change.pin } }
    case 'deregister':
      return { path: ['deregister'], body: {} }
    case 'pin':
      return { path: [], body: { pin: change.pin } }
    case 'request_code':
      return { path: ['request_code'], body: { code_method: change.method, language: change.language } }
    case 'verify_code':
      return { path: ['verify_code'], body: { code: change.code } }
    case 'name':
      return { path: [], body: { new_display_name: change.name } }
    case 'profile': {
      const { category, ...profile } = change.profile
      const body = { messaging_product, ...profile, ...(category !== undefined && { vertical: category }) }
      return { path: ['whatsapp_business_profile'], body }
    }
  }
}

export const profileFields = 'about,address,description,email,websites,vertical'

/** WhatsApp leaves out what is not set. */
export function readProfile(response: JsonObject): BusinessProfile {
  const row = readObject(readArray(response.data)[0])
  const text = (name: string) => readNonBlank(row?.[name], 2000) ?? ''
  const websites = readArray(row?.websites).flatMap((each) => readNonBlank(each, 2000) ?? [])
  const [about, address, description] = [text('about'), text('address'), text('description')]
  return { about, address, description, email: text('email'), category: text('vertical'), websites }
}

/** What helps after an error of these requests. */
export const numberRemedies: ReadonlyMap<unknown, string> = new Map([
  [133005, 'Enter the current two-step PIN, or set a new one.'],
  [133006, 'Request a code for the number and verify it, then register it.'],
  [133008, 'Wait until WhatsApp accepts a PIN for this number again, then enter the right one.'],
  [133009, 'Wait a few minutes, then enter the PIN again.'],
  [133010, 'Register the number first.'],
  [133015, 'Wait five minutes, then register it again.'],
  [133016, 'WhatsApp allows ten registrations and deregistrations within 72 hours. Wait until then.'],
  [136024, 'A number that is verified needs no code. Otherwise wait a while, then use the other method.'],
  [136025, 'Enter the latest code, or request a new one.'],
])
