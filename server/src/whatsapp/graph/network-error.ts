import type { MessageError } from '@parley/contract/events'
import { type JsonObject, readNonBlank, readNumber, readObject } from '../read-json.ts'
import { networkErrors } from './errors.ts'

/**
 * Converts an error of WhatsApp. It comes from webhooks and API responses of several versions, so any field may be
 * missing.
 */
export function readNetworkError(value: unknown): MessageError | null {
  const error = readObject(value)
  return error === null ? null : toMessageError(error)
}

/** For a failure without a reason. */
export const unknownError: MessageError = {
  code: 'unknown',
  title: 'Unknown error',
  message: 'WhatsApp gave no reason.',
  details: null,
}

function toMessageError(error: JsonObject): MessageError {
  const code = readNumber(error.code)
  const known = code === null ? undefined : networkErrors.get(code)
  const message = readNonBlank(error.message, 2000) ?? readNonBlank(error.error_user_msg, 2000)
  const title = readNonBlank(error.title, 500) ?? readNonBlank(error.error_user_title, 500) ?? known?.title ?? message
  return {
    code: code !== null && Number.isInteger(code) ? code : unknownError.code,
    title: title ?? unknownError.title,
    message: message ?? title ?? unknownError.message,
    details: details(error),
  }
}

function details(error: JsonObject): string | null {
  const data = error.error_data
  return (
    readNonBlank(readObject(data)?.details, 4000) ??
    readNonBlank(data, 4000) ??
    readNonBlank(error.details, 4000) ??
    readNonBlank(error.error_user_msg, 4000)
  )
}
