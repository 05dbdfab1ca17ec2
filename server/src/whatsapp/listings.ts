/** Rows of the network's listings, as far as we use them. */
import { cleanJson, type JsonObject, readArray, readId, readNumber, readObject, readWords } from './read-json.ts'
import { sha256Hex } from './sha256.ts'

export interface ListedTemplate {
  networkTemplateId: string
  name: string
  language: string
  status: string
  category: string
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
  /** `STANDARD` is 80 messages a second, `HIGH` 1000. */
  throughput: string | null
}

export interface MediaInfo {
  url: string
  mimeType: string | null
  sha256: string | null
  fileSize: number | null
}

/** A row without id, name or language cannot be sent and is left out. */
export function readListedTemplate(row: JsonObject): ListedTemplate | null {
  const networkTemplateId = readId(row.id)
  const name = readId(row.name, 512)
  const language = readId(row.language, 35)
  if (networkTemplateId === null || name === null || language === null) return null
  const reason = readWords(row.rejected_reason, 512)
  return {
    networkTemplateId,
    name,
    language,
    status: readId(row.status, 64)?.toUpperCase() ?? 'UNKNOWN',
    category: readId(row.category, 64)?.toUpperCase() ?? 'UNKNOWN',
    components: [...readArray(cleanJson(row.components))],
    quality: readId(readObject(row.quality_score)?.score, 64),
    rejectedReason: reason === 'NONE' ? null : reason,
  }
}

export function readListedNumber(row: JsonObject): ListedNumber | null {
  const phoneNumberId = readId(row.id)
  const phoneNumber = readWords(row.display_phone_number, 64)?.replace(/\D/g, '') ?? ''
  if (phoneNumberId === null || phoneNumber === '') return null
  const rating = readId(row.quality_rating, 64)?.toUpperCase()
  return {
    phoneNumberId,
    phoneNumber,
    displayName: readWords(row.verified_name, 512),
    status: readId(row.status, 64)?.toUpperCase() ?? 'UNKNOWN',
    qualityRating: rating === undefined || rating === 'NA' ? 'UNKNOWN' : rating,
    throughput: readId(readObject(row.throughput)?.level, 64),
  }
}

export function readMediaInfo(response: JsonObject): MediaInfo | null {
  const url = readId(response.url, 4096)
  if (url === null) return null
  return {
    url,
    mimeType: readWords(response.mime_type, 256),
    sha256: sha256Hex(readId(response.sha256, 128)),
    fileSize: readNumber(response.file_size),
  }
}
