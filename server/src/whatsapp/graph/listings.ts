/** Parses the rows of the Graph API's lists: the fields that we use. */
import { cleanJson, type JsonObject, readArray, readId, readNonBlank, readNumber, readObject } from '../read-json.ts'
import { sha256Hex } from './sha256.ts'

export interface ListedTemplate {
  networkTemplateId: string
  name: string
  language: string
  status: string
  category: string
  subCategory: string | null
  components: unknown[]
  quality: string | null
  rejectedReason: string | null
}

export interface ListedNumber {
  phoneNumberId: string
  /** Digits only. */
  phoneNumber: string
  displayName: string | null
  status: string
  qualityRating: string
  /** WhatsApp's level, or `BUSINESS_APP` for a number that is also used in the WhatsApp Business app. */
  throughput: string | null
  messagingLimit: string | null
  nameStatus: string | null
  /** A display name that WhatsApp reviews or reviewed. */
  requestedName: string | null
  requestedNameStatus: string | null
  verificationStatus: string | null
  hasPin: boolean | null
  /** The callback that the number has in place of the app's. */
  overrideUrl: string | null
}

export interface MediaInfo {
  url: string
  mimeType: string | null
  sha256: string | null
  fileSize: number | null
}

/** A template without an ID, name or language cannot be sent and is skipped. */
export function readListedTemplate(row: JsonObject): ListedTemplate | null {
  const networkTemplateId = readId(row.id)
  const name = readId(row.name, 512)
  const language = readId(row.language, 35)
  if (networkTemplateId === null || name === null || language === null) return null
  const reason = readNonBlank(row.rejected_reason, 512)
  return {
    networkTemplateId,
    name,
    language,
    status: readId(row.status, 64)?.toUpperCase() ?? 'UNKNOWN',
    category: readId(row.category, 64)?.toUpperCase() ?? 'UNKNOWN',
    subCategory: readId(row.sub_category, 64)?.toUpperCase() ?? null,
    components: [...readArray(cleanJson(row.components))],
    quality: readId(readObject(row.quality_score)?.score, 64),
    rejectedReason: reason === 'NONE' ? null : reason,
  }
}

export function readListedNumber(row: JsonObject): ListedNumber | null {
  const phoneNumberId = readId(row.id)
  const phoneNumber = readNonBlank(row.display_phone_number, 64)?.replace(/\D/g, '') ?? ''
  if (phoneNumberId === null || phoneNumber === '') return null
  const isShared = row.is_on_biz_app === true && row.platform_type === 'CLOUD_API'
  const rating = readId(row.quality_rating, 64)?.toUpperCase()
  return {
    phoneNumberId,
    phoneNumber,
    displayName: readNonBlank(row.verified_name, 512),
    status: readId(row.status, 64)?.toUpperCase() ?? 'UNKNOWN',
    qualityRating: rating === undefined || rating === 'NA' ? 'UNKNOWN' : rating,
    throughput: isShared ? 'BUSINESS_APP' : readId(readObject(row.throughput)?.level, 64),
    messagingLimit: readId(row.whatsapp_business_manager_messaging_limit, 64),
    nameStatus: readId(row.name_status, 64),
    requestedName: readNonBlank(row.new_display_name, 512),
    requestedNameStatus: readId(row.new_name_status, 64),
    verificationStatus: readId(row.code_verification_status, 64),
    hasPin: typeof row.is_pin_enabled === 'boolean' ? row.is_pin_enabled : null,
    overrideUrl: readId(readObject(row.webhook_configuration)?.phone_number, 2048),
  }
}

export function readMediaInfo(response: JsonObject): MediaInfo | null {
  const url = readId(response.url, 4096)
  if (url === null) return null
  return {
    url,
    mimeType: readNonBlank(response.mime_type, 256),
    sha256: sha256Hex(readId(response.sha256, 128)),
    fileSize: readNumber(response.file_size),
  }
}
