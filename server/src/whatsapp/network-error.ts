import type { MessageError } from '@parley/contract/events'
import { networkErrors } from './errors.ts'
import { type JsonObject, readNumber, readObject, readWords } from './read-json.ts'

/** The network's error in our shape. It stands in webhooks and in API answers, old and new, so every part may be missing. */
export function readNetworkError(value: unknown): MessageError | null {
  const error = readObject(value)
  return error === null ? null : shape(error)
}

/** A failure without a word of why. */
export const unknownError: MessageError = {
  code: 'unknown',
  title: 'Unknown error',
  message: 'The network gave no reason.',
  details: null,
}

function shape(error: JsonObject): MessageError {
  const code = readNumber(error.code)
  const known = code === null ? undefined : networkErrors.get(code)
  const message = readWords(error.message, 2000) ?? readWords(error.error_user_msg, 2000)
  const title = readWords(error.title, 500) ?? readWords(error.error_user_title, 500) ?? known?.title ?? message
  return {
    code: code !== null && Number.isInteger(code) ? code : unknownError.code,
    title: title ?? unknownError.title,
    message: message ?? title ?? unknownError.message,
    details: details(error),
  }
}

function details(error: JsonObject): string | null {
  const data = error.error_data
  return readWords(readObject(data)?.details, 4000) ?? readWords(data, 4000) ?? readWords(error.details, 4000)
}
