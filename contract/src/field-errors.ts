import { type Static, Type } from 'typebox'

/**
 * The codes of `errors[].code`. A code means the same on every route and never changes its meaning. The enum in the
 * OpenAPI document and the table on /docs/errors come from this list.
 */
export const fieldErrors = {
  missing: 'A required field or parameter is missing.',
  unknown: 'The field or parameter does not exist.',
  not_found: 'No object with this ID or name exists in this workspace.',
  unexpected: 'The field is not allowed in combination with the other fields.',
  wrong_type: 'The value has the wrong type, for example a number in place of a string.',
  invalid: 'The value is not in the required format, or is not one of the allowed values.',
  invalid_characters: 'The text contains characters that cannot be stored, such as NUL.',
  too_short: 'The text is empty, or shorter than allowed.',
  too_long: 'The text is longer than allowed.',
  too_few: 'The array or object has fewer entries than required.',
  too_many: 'The array has more entries than allowed.',
  out_of_range: 'The number or time is lower or higher than allowed.',
  line_break:
    'The text contains a line break, a tab or more than four consecutive spaces, which WhatsApp does not accept.',
  not_connected: 'The sender is not connected and cannot send.',
  not_approved: 'The template is not approved and cannot be sent.',
  template_not_sendable:
    'The template has parts that this service does not support. `not_sendable_reason` of the template names them.',
  not_sent: 'The referenced message has not been sent yet.',
  other_account: 'The template belongs to a different WhatsApp account than the sender.',
  other_sender: 'The referenced message belongs to a different sender.',
  in_group: 'The referenced message was written in a group. You can reply only to private messages.',
  unsupported_file: 'The file has a type or size that this kind of message does not allow.',
  expired: 'The uploaded file has expired. Upload it again.',
  refused: 'WhatsApp rejected the value.',
  already_connected: 'The WhatsApp account is already connected.',
} as const satisfies Record<string, string>

export type FieldErrorCode = keyof typeof fieldErrors

/** One error in a request. */
export const FieldError = Type.Object({
  param: Type.String({ description: 'The field or parameter, as a path such as `template.variables.body.1`.' }),
  code: Type.Unsafe<FieldErrorCode>(
    Type.String({ enum: Object.keys(fieldErrors), description: 'What is wrong with it. Codes are stable.' }),
  ),
  message: Type.String({ description: 'What is wrong, for people. The text may change; branch on `code`.' }),
})
export type FieldError = Static<typeof FieldError>
