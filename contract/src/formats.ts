import { Type } from 'typebox'

/*
 * String formats that several requests share. `errorMessage` is the message for a value that is not in the format; every
 * pattern and format of a request has one. The server's validator reads it from the schema; the OpenAPI document omits it.
 */

/** A time in a request. */
export const Moment = Type.String({
  format: 'date-time',
  pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,6})?)?(Z|[+-]\\d{2}:\\d{2})$',
  maxLength: 40,
  examples: ['2026-11-16T09:00:00Z'],
  errorMessage: 'Enter a date and time such as 2026-11-16T09:00:00Z.',
})

const phone = {
  examples: ['491701234567'],
  errorMessage: 'Enter a phone number with its country code, as digits without spaces, such as 491701234567.',
}

/** The phone number of a recipient. */
export const Recipient = Type.String({ pattern: '^\\+?[1-9][0-9]{6,14}$', ...phone })

export const userIdPattern = '^[A-Z]{2}\\.(ENT\\.)?[A-Za-z0-9]{1,128}$'

/** WhatsApp's ID of a person: the country, a dot and an ID. It is unique within a business portfolio. */
export const UserId = Type.String({
  pattern: userIdPattern,
  examples: ['US.13491200000000000001'],
  errorMessage: 'Enter a user ID of WhatsApp such as US.13491200000000000001.',
})

/** The phone number of the sender of an inbound message, as a filter. */
export const Phone = Type.String({ pattern: '^\\+?[1-9][0-9]{4,19}$', ...phone })

/** A latitude or longitude as a string, as many libraries write it. */
export const degrees = {
  pattern: '^[+-]?([0-9]{1,3}(\\.[0-9]{0,30})?|\\.[0-9]{1,30})([eE][+-]?[0-9]{1,2})?$',
  examples: ['52.5163'],
  errorMessage: 'Enter a decimal number of degrees such as 52.5163.',
}

export const httpLink = (maxLength: number, description?: string) =>
  Type.String({
    pattern: '^https?://[^\\s]+$',
    maxLength,
    ...(description && { description }),
    errorMessage: 'Enter a link that starts with http:// or https://.',
  })
