import { Type } from 'typebox'

/*
 * String formats that several requests share. `errorMessage` is the message for a value that is not in the format. The
 * server's validator reads it from the schema; the OpenAPI document omits it.
 */

/** A time in a filter. */
export const Moment = Type.String({
  format: 'date-time',
  pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,6})?)?(Z|[+-]\\d{2}:\\d{2})$',
  maxLength: 40,
  errorMessage: 'Enter the time in ISO 8601 format with a time zone, for example 2026-11-15T09:30:00Z.',
})

const phoneMessage = 'Enter the phone number in international format, for example 491701234567.'

/** The phone number of a recipient. */
export const Recipient = Type.String({ pattern: '^\\+?[1-9][0-9]{6,14}$', errorMessage: phoneMessage })

/** WhatsApp's ID of a person: the country, a dot and an ID. It is unique within a business portfolio. */
export const UserId = Type.String({
  pattern: '^[A-Z]{2}\\.(ENT\\.)?[A-Za-z0-9]{1,128}$',
  errorMessage: 'Enter the user ID as WhatsApp provides it, for example US.13491200000000000001.',
})

/** The phone number of the sender of an inbound message, as a filter. */
export const Phone = Type.String({ pattern: '^\\+?[1-9][0-9]{4,19}$', errorMessage: phoneMessage })

export const httpLink = (maxLength: number, description?: string) =>
  Type.String({
    pattern: '^https?://[^\\s]+$',
    maxLength,
    ...(description && { description }),
    errorMessage: 'Enter a link that starts with http:// or https://.',
  })
