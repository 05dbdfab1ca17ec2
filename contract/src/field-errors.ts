import { type Static, Type } from 'typebox'

/**
 * The codes of `errors[].code`. The same fault has the same code on every route; a code never changes its meaning. The enum
 * in the OpenAPI document and the table on /docs/errors are made from this list.
 */
export const fieldErrors = {
  missing: 'A required field or parameter is missing.',
  unknown: 'The field or parameter does not exist, or it refers to something that this workspace does not have.',
  unexpected: 'The field must be left out here, because another field rules it out.',
  wrong_type: 'The value has the wrong type, for example a number in place of a string.',
  invalid: 'The value has the right type, but it is not in the required format or not one of the allowed values.',
  invalid_characters: 'The text contains characters that cannot be stored, such as NUL.',
  too_short: 'The text is empty, or shorter than allowed.',
  too_long: 'The text is longer than allowed.',
  too_few: 'The array or object has fewer entries than required.',
  too_many: 'The array has more entries than allowed.',
  out_of_range: 'The number or time is lower or higher than allowed.',
  not_one_line:
    'The text contains a line break, a tab or more than four spaces in a row, which WhatsApp does not accept.',
  not_connected: 'The sender is not connected and cannot send.',
  not_approved: 'The template is not approved and cannot be sent.',
  not_sent: 'The message referred to has not been sent yet.',
  other_account: 'The template belongs to another WhatsApp account than the sender.',
  other_sender: 'The message referred to belongs to another sender.',
  refused: 'WhatsApp refused the value.',
  taken: 'The WhatsApp account is already connected.',
} as const satisfies Record<string, string>

export type FieldErrorCode = keyof typeof fieldErrors

/** One fault of a request; `param` is a path such as `template.variables.body.1`. */
export const FieldError = Type.Object({
  param: Type.String(),
  code: Type.Unsafe<FieldErrorCode>(Type.String({ enum: Object.keys(fieldErrors) })),
  message: Type.String({ description: 'For people. It may change; branch on `code`.' }),
})
export type FieldError = Static<typeof FieldError>
