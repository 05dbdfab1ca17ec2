import type { Json } from '../json.ts'
import { type PhoneNumber, throughputOf, type Waba } from '../world.ts'
import { type Call, edge } from './call.ts'
import { pageOf, pick, requestedFields } from './listing.ts'
import { manageNumberEdges } from './manage-number.ts'

export const numberEdges = [
  edge('GET', 'waba', 'phone_numbers', listNumbers),
  edge('GET', 'number', null, (call, number) => pick(numberNode(call, number), requestedFields(call) ?? defaultFields)),
  ...manageNumberEdges,
]

const defaultFields = [
  'verified_name',
  'code_verification_status',
  'display_phone_number',
  'quality_rating',
  'platform_type',
  'throughput',
  'last_onboarded_time',
  'webhook_configuration',
]

function listNumbers(call: Call, waba: Waba): unknown {
  const fields = requestedFields(call) ?? defaultFields
  const rows = [...call.network.world.numbers.values()]
    .filter((number) => number.wabaId === waba.id)
    .map((number) => pick(numberNode(call, number), fields))
  return pageOf(call, `${waba.id}/phone_numbers`, rows)
}

/** All fields that can be requested; most are not in the default response. */
function numberNode(call: Call, number: PhoneNumber): Json {
  return {
    id: number.id,
    display_phone_number: displayNumber(number.phoneNumber),
    verified_name: number.verifiedName,
    quality_rating: number.qualityRating,
    code_verification_status: number.codeVerificationStatus,
    platform_type: number.status === 'CONNECTED' ? 'CLOUD_API' : 'NOT_APPLICABLE',
    throughput: { level: throughputOf(number) > 80 ? 'HIGH' : 'STANDARD' },
    last_onboarded_time: number.onboardedAt.replace(/\.\d{3}Z$/, '+0000'),
    webhook_configuration: webhookConfiguration(call, number),
    status: number.status,
    name_status: number.nameStatus,
    new_display_name: number.newDisplayName,
    new_name_status: number.newNameStatus,
    account_mode: number.accountMode,
    is_official_business_account: number.isOfficialBusinessAccount,
    is_on_biz_app: number.isOnBizApp,
    is_pin_enabled: number.pin !== null,
    quality_score: { score: number.qualityRating },
    health_status: { can_send_message: number.status === 'CONNECTED' ? 'AVAILABLE' : 'BLOCKED', entities: [] },
    country_dial_code: number.phoneNumber.startsWith('1') ? '1' : number.phoneNumber.slice(0, 2),
    certificate: undefined,
    search_visibility: 'NON_VISIBLE',
    username: undefined,
    messaging_limit_tier: number.messagingLimit,
    whatsapp_business_manager_messaging_limit: number.messagingLimit,
  }
}

/** A phone number as the API formats it; webhooks have only the digits. */
function displayNumber(digits: string): string {
  const american = /^1(\d{3})(\d{3})(\d{4})$/.exec(digits)
  if (american) return `+1 ${american[1]}-${american[2]}-${american[3]}`
  return `+${digits.slice(0, 2)} ${digits.slice(2).replaceAll(/(\d{3})(?=\d{2})/g, '$1 ')}`.trim()
}

function webhookConfiguration(call: Call, number: PhoneNumber): Json {
  const { world } = call.network
  const override = world.wabas.get(number.wabaId)?.subscriptions[call.token.appId]?.override
  const application = world.apps.get(call.token.appId)?.callbackUrl
  return {
    ...(number.override ? { phone_number: number.override.url } : {}),
    ...(override ? { whatsapp_business_account: override.url } : {}),
    ...(application ? { application } : {}),
  }
}
