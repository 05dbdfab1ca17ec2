import { expect, test } from 'vitest'
import { ApiError } from './api.ts'
import { errorsOf } from './use-form.ts'

const values = { to: '', 'text.body': '', ip_allow_list: [] }

test('an error is shown at the field it names, or at the form if there is no such field', () => {
  const errors = [
    { param: 'to', code: 'invalid', message: 'No number.' },
    { param: 'text.body', code: 'missing', message: 'Empty.' },
    { param: 'ip_allow_list.1', code: 'invalid', message: 'No address.' },
    { param: 'template.variables', code: 'missing', message: 'A value is missing.' },
    { param: 'reference', code: 'invalid', message: 'Too long.' },
  ] as const
  expect(errorsOf(new ApiError(400, 'validation_failed', 'No number.', { errors }), values)).toEqual({
    to: 'No number.',
    'text.body': 'Empty.',
    ip_allow_list: 'No address.',
    form: 'A value is missing. Too long.',
  })
})

test('an error with a parameter, an error without one, and an error that is not an ApiError', () => {
  expect(errorsOf(new ApiError(409, 'conflict', 'Taken.', { param: 'to' }), values)).toEqual({ to: 'Taken.' })
  expect(errorsOf(new ApiError(500, 'internal_error', 'Away.'), values)).toEqual({ form: 'Away.' })
  expect(errorsOf(new Error('Broken.'), values)).toEqual({ form: 'Broken.' })
})
