import { arrayIn, isObject, type Json, lengthOf, scalarIn, textIn } from '../json.ts'
import { refuse, refuseParameter } from '../network/errors.ts'
import type { Network } from '../network.ts'
import { switchesFor } from '../switches.ts'
import { notifyAccount } from '../webhooks/notify.ts'
import type { PhoneNumber } from '../world.ts'
import { type Call, edge } from './call.ts'
import { setOverride } from './callbacks.ts'
import { requestedFields } from './listing.ts'

/** What a business does to a number: registration, two-step PIN, verification, display name and profile. */
export const manageNumberEdges = [
  edge('POST', 'number', null, changeNumber),
  edge('POST', 'number', 'register', register),
  edge('POST', 'number', 'deregister', deregister),
  edge('POST', 'number', 'request_code', requestCode),
  edge('POST', 'number', 'verify_code', verifyCode),
  edge('GET', 'number', 'whatsapp_business_profile', showProfile),
  edge('POST', 'number', 'whatsapp_business_profile', changeProfile),
]

const maxRegistrationCalls = 10
const registrationWindowMs = 72 * 3_600_000
const deletionMs = 5 * 60_000

async function changeNumber(call: Call, number: PhoneNumber): Promise<unknown> {
  const { pin, new_display_name: name, webhook_configuration: configuration } = { ...call.query, ...call.body }
  if (pin === undefined && name === undefined && !isObject(configuration))
    refuseParameter('One of the parameters pin, new_display_name and webhook_configuration is required.')
  if (pin !== undefined) {
    const checked = pinIn({ pin })
    if (number.status !== 'CONNECTED') refuse(133010)
    number.pin = checked
  }
  if (name !== undefined) requestName(call.network, number, name)
  if (isObject(configuration)) number.override = await setOverride(call, configuration)
  return done(call)
}

function register(call: Call, number: PhoneNumber): unknown {
  requireProduct(call)
  const pin = pinIn(call.body)
  countRegistrationCall(call.network, number)
  const nowMs = call.network.timers.now().getTime()
  if (number.deregisteredAt && nowMs - Date.parse(number.deregisteredAt) < deletionMs) refuse(133015)
  if (number.codeVerificationStatus !== 'VERIFIED') refuse(133006)
  if (number.pin !== null && number.pin !== pin) refuse(133005)
  number.pin = pin
  number.status = 'CONNECTED'
  return done(call)
}

function deregister(call: Call, number: PhoneNumber): unknown {
  countRegistrationCall(call.network, number)
  if (number.status !== 'CONNECTED') refuse(133010)
  if (number.isOnBizApp)
    refuseParameter('A number that is also used in the WhatsApp Business app cannot be deregistered.')
  number.status = 'DISCONNECTED'
  number.deregisteredAt = call.network.timers.now().toISOString()
  return done(call)
}

function requestCode(call: Call, number: PhoneNumber): unknown {
  const { code_method: method, language } = { ...call.query, ...call.body }
  if (method !== 'SMS' && method !== 'VOICE') refuseParameter('Param code_method must be one of {SMS, VOICE}.')
  if (typeof language !== 'string' || !/^[a-z]{2}(_[A-Z]{2})?$/.test(language))
    refuseParameter('Param language must be a language code.')
  if (number.codeVerificationStatus === 'VERIFIED') refuse(136024, 'This phone number is already verified.')
  number.codeRequested = true
  return done(call)
}

function verifyCode(call: Call, number: PhoneNumber): unknown {
  const code = scalarIn({ ...call.query, ...call.body }, 'code')
  if (code === undefined) return refuseParameter('The parameter code is required.')
  if (!number.codeRequested || code !== simulatedCode(number)) refuse(136025)
  number.codeRequested = false
  number.codeVerificationStatus = 'VERIFIED'
  return done(call)
}

/** The code of the simulated text or call: the last six digits of the number. */
const simulatedCode = ({ phoneNumber }: PhoneNumber): string => phoneNumber.slice(-6)

/** Simulates the review of a name: after a delay it is approved, or declined if it contains `reject`. */
function requestName(network: Network, number: PhoneNumber, name: unknown): void {
  if (typeof name !== 'string' || lengthOf(name.trim()) < 3 || lengthOf(name) > 512)
    refuseParameter('Param new_display_name must be a string of 3 to 512 characters.')
  number.newDisplayName = name.trim()
  number.newNameStatus = 'PENDING_REVIEW'
  network.timers.after(switchesFor(network.world).templateReviewMs, () => {
    const requested = number.newDisplayName
    if (requested !== name.trim() || number.newNameStatus !== 'PENDING_REVIEW') return
    const passes = !requested.toLowerCase().includes('reject')
    number.newNameStatus = passes ? 'APPROVED' : 'DECLINED'
    if (passes) {
      number.verifiedName = requested
      number.nameStatus = 'APPROVED'
    }
    notifyAccount(network, number.wabaId, 'phone_number_name_update', {
      display_phone_number: number.phoneNumber,
      decision: passes ? 'APPROVED' : 'REJECTED',
      requested_verified_name: requested,
      rejection_reason: passes ? null : 'NAME_NOT_CONSISTENT',
    })
    network.changed()
  })
}

const profileFields = ['about', 'address', 'description', 'email', 'profile_picture_url', 'websites', 'vertical']

function showProfile(call: Call, number: PhoneNumber): unknown {
  const profile: Json = { messaging_product: 'whatsapp' }
  for (const name of requestedFields(call) ?? profileFields) {
    if (!profileFields.includes(name)) refuseParameter(`Tried accessing nonexisting field (${name}) on node type`)
    if (number.profile?.[name] !== undefined) profile[name] = number.profile[name]
  }
  return { data: [profile] }
}

const verticals =
  'ALCOHOL APPAREL AUTO BEAUTY EDU ENTERTAIN EVENT_PLAN FINANCE GOVT GROCERY HEALTH HOTEL NONPROFIT ONLINE_GAMBLING OTC_DRUGS OTHER PHYSICAL_GAMBLING PROF_SERVICES RESTAURANT RETAIL TRAVEL'.split(
    ' ',
  )
const longest = { about: 139, address: 256, description: 512, email: 128, vertical: 40 } as const

function changeProfile(call: Call, number: PhoneNumber): unknown {
  requireProduct(call)
  const { messaging_product: _, ...given } = call.body
  const profile = { ...number.profile }
  for (const name of Object.keys(given)) {
    if (name === 'websites') profile.websites = websitesIn(given)
    else if (Object.hasOwn(longest, name)) profile[name] = textOf(given, name as keyof typeof longest)
    else refuseParameter(`The simulator does not support the parameter ${name}.`)
  }
  number.profile = profile
  return done(call)
}

function textOf(given: Json, name: keyof typeof longest): string {
  const text = textIn(given, name)
  if (text === undefined || lengthOf(text) > longest[name])
    return refuseParameter(`Param ${name} must be a string of at most ${longest[name]} characters.`)
  if (name === 'about' && text === '') refuseParameter('Param about must not be empty.')
  if (name === 'email' && text !== '' && !/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text))
    refuseParameter('Param email must be an email address.')
  if (name === 'vertical' && text !== '' && !verticals.includes(text))
    refuseParameter(`Param vertical must be one of {${verticals.join(', ')}}.`)
  return text
}

function websitesIn(given: Json): string[] {
  const websites = arrayIn(given, 'websites')
  const isWebsite = (url: unknown): url is string =>
    typeof url === 'string' && url.length <= 256 && /^https?:\/\//.test(url) && URL.canParse(url)
  if (!websites || websites.length > 2 || !websites.every(isWebsite))
    return refuseParameter('Param websites must be an array of at most 2 URLs with http:// or https://.')
  return websites
}

function requireProduct({ body }: Call): void {
  if (body.messaging_product !== 'whatsapp') refuseParameter('The parameter messaging_product is required.')
}

function pinIn(body: Json): string {
  const pin = textIn(body, 'pin')
  return pin && /^\d{6}$/.test(pin) ? pin : refuseParameter('Param pin must be a string of 6 digits.')
}

function countRegistrationCall({ timers }: Network, number: PhoneNumber): void {
  const now = timers.now()
  const calls = (number.registrationCalls ?? []).filter((at) => now.getTime() - Date.parse(at) < registrationWindowMs)
  if (calls.length >= maxRegistrationCalls) refuse(133016)
  number.registrationCalls = [...calls, now.toISOString()]
}

function done({ network }: Call): { success: true } {
  network.changed()
  return { success: true }
}
