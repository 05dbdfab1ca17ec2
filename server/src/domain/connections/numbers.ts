/** What people do to a number at WhatsApp: registration, two-step PIN, verification, display name and business profile. */
import { type BusinessProfile, businessCategories } from '@parley/contract/console/senders'
import type { FieldError } from '@parley/contract/field-errors'
import type { Db } from '../../db/db.ts'
import { withoutPrefix } from '../../lib/ids.ts'
import { refuse, refuseIfAny, refuseParam } from '../../lib/refuse.ts'
import { atMostCharacters, characterErrors, sentence, textErrors } from '../../lib/text-errors.ts'
import type { CallFailure } from '../../whatsapp/graph/call.ts'
import type { GraphAccess } from '../../whatsapp/graph/client.ts'
import { type NumberChange, numberRemedies } from '../../whatsapp/graph/number-calls.ts'
import type { NewAuditEntry } from '../audit/audit.ts'
import { findSender, networkIdsOf } from '../senders/senders.ts'
import { describeFailure } from './describe-failure.ts'
import type { Network } from './network.ts'
import { syncConnection } from './sync.ts'

export type { NumberChange }

export interface NumberOfWorkspace {
  workspaceId: string
  /** With its prefix. */
  senderId: string
}

/** Writes an audit entry in the transaction `tx`. */
export type Audit = (entry: NewAuditEntry, tx: Db) => Promise<void>

/**
 * Changes a number at WhatsApp, then syncs its account, so that its sender shows the result. No transaction may be open. The PIN
 * and the code are passed on, and neither stored nor recorded.
 */
export async function changeNumber(
  network: Network,
  { workspaceId, senderId }: NumberOfWorkspace,
  change: NumberChange,
  audit: Audit,
): Promise<void> {
  const checked = checkedChange(change)
  const { phoneNumber, phoneNumberId, connectionId, access } = await requireNumber(network, { workspaceId, senderId })
  const outcome = await network.client.changeNumber(access, phoneNumberId, checked)
  if (outcome.kind === 'refused' || outcome.kind === 'unreachable') refuseCall(outcome, access, checked)
  const isConfirmed = outcome.kind === 'ok'
  const after = { ...auditedPart(checked), ...(!isConfirmed && { confirmed: false }) }
  const entry = { action: `sender.${checked.action}`, target: senderId, targetName: phoneNumber, after, workspaceId }
  await network.db.transaction((tx) => audit(entry, tx))
  await syncConnection(network, connectionId)
  if (!isConfirmed) refuseCall(outcome, access, checked)
}

export async function readBusinessProfile(network: Network, number: NumberOfWorkspace): Promise<BusinessProfile> {
  const { phoneNumberId, access } = await requireNumber(network, number)
  const outcome = await network.client.readProfile(access, phoneNumberId)
  return outcome.kind === 'ok' ? outcome.value : refuseCall(outcome, access)
}

async function requireNumber({ db, vault }: Network, { workspaceId, senderId }: NumberOfWorkspace) {
  const uuid = withoutPrefix('snd', senderId)
  const sender = uuid ? await findSender(db, workspaceId, uuid) : undefined
  const ids = sender && (await networkIdsOf(db, sender.id))
  const access = ids && (await vault.accessFor(ids.connectionId))
  if (!sender || !ids || !access) return refuse('not_found', { message: `Sender ${senderId} not found.` })
  return { ...ids, access, phoneNumber: sender.phone_number }
}

/** The fields that an error is about. WhatsApp's other errors are about the number. */
const faultyFields: ReadonlyMap<unknown, string> = new Map([
  [133005, 'pin'],
  [136025, 'code'],
])

function refuseCall(failure: CallFailure, access: GraphAccess, change?: NumberChange): never {
  const described = describeFailure(failure, access)
  const secret = change && secretOf(change)
  const message = secret ? described.replaceAll(secret, '…') : described
  if (failure.kind !== 'refused') return refuse('service_unavailable', { message })
  const { code } = failure.error
  const remedy = numberRemedies.get(code)
  const parts = [`WhatsApp rejected the request: ${message}.`, ...(remedy ? [remedy] : [])]
  return refuseParam(faultyFields.get(code) ?? 'sender', 'refused', parts.join(' '))
}

function secretOf(change: NumberChange): string | null {
  if ('pin' in change) return change.pin
  return 'code' in change ? change.code : null
}

function auditedPart(change: NumberChange): Record<string, unknown> {
  if (change.action === 'name') return { name: change.name }
  if (change.action === 'profile') return change.profile
  return change.action === 'request_code' ? { method: change.method } : {}
}

function checkedChange(change: NumberChange): NumberChange {
  switch (change.action) {
    case 'register':
    case 'pin':
      if (!/^\d{6}$/.test(change.pin)) refuseParam('pin', 'invalid', 'The PIN must have six digits.')
      return change
    case 'deregister':
      return change
    case 'request_code':
      if (change.method !== 'SMS' && change.method !== 'VOICE')
        refuseParam('method', 'invalid', 'The method must be SMS or VOICE.')
      if (!/^[a-z]{2}(_[A-Z]{2})?$/.test(change.language))
        refuseParam('language', 'invalid', 'Enter the language as a code such as en or pt_BR.')
      return change
    case 'verify_code': {
      // WhatsApp writes it as 123-456.
      const code = change.code.replaceAll(/[\s-]/g, '')
      if (!/^\d{6}$/.test(code)) refuseParam('code', 'invalid', 'The code must have six digits.')
      return { ...change, code }
    }
    case 'name': {
      const name = change.name.trim()
      refuseIfAny([...textErrors('name', name, 512), ...characterErrors({ name })])
      return { ...change, name }
    }
    case 'profile':
      refuseIfAny(profileErrors(change.profile))
      return change
  }
}

const longest = { about: 139, address: 256, description: 512, email: 128 } as const

function profileErrors(profile: Partial<BusinessProfile>): FieldError[] {
  const { about, email, category, websites = [] } = profile
  const faults = characterErrors(profile)
  for (const name of ['about', 'address', 'description', 'email'] as const)
    if ([...(profile[name] ?? '')].length > longest[name])
      faults.push({ param: name, code: 'too_long', message: sentence(name, atMostCharacters(longest[name])) })
  if (Object.keys(profile).length === 0)
    faults.push({ param: 'profile', code: 'missing', message: 'Enter at least one field of the profile.' })
  if (about === '') faults.push(...textErrors('about', about, longest.about))
  if (email && !/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(email))
    faults.push({ param: 'email', code: 'invalid', message: 'Enter an email address.' })
  if (category && !Object.hasOwn(businessCategories, category)) {
    const message = `Enter a category: ${Object.keys(businessCategories).join(', ')}.`
    faults.push({ param: 'category', code: 'invalid', message })
  }
  if (websites.length > 2)
    faults.push({ param: 'websites', code: 'too_many', message: 'A profile has at most two websites.' })
  if (websites.some((url) => !/^https?:\/\//.test(url) || url.length > 256 || !URL.canParse(url)))
    faults.push({ param: 'websites', code: 'invalid', message: 'Enter websites as URLs of at most 256 characters.' })
  return faults
}
