import { type Static, Type } from 'typebox'
import { errorCatalogue, errorCodes } from './errors.ts'
import { FieldError } from './field-errors.ts'

const oneOf = <Value extends string>(values: readonly Value[], description: string) =>
  Type.Unsafe<Value>(Type.String({ enum: [...values], description }))

export const ErrorReply = Type.Object(
  {
    error: Type.Object({
      type: oneOf(
        [...new Set(errorCodes.map((code) => errorCatalogue[code].type))],
        'The category of the error. Several codes share a type.',
      ),
      code: oneOf(errorCodes, 'What went wrong. Codes are stable: branch on this field.'),
      message: Type.String({ description: 'What went wrong, for people. The text may change; branch on `code`.' }),
      request_id: Type.String({ pattern: '^req_', description: 'The ID of the request, also in `X-Request-Id`.' }),
      doc_url: Type.String({ description: 'A page that explains the error and how to fix it.' }),
      param: Type.Optional(Type.String({ description: 'The first invalid field or parameter.' })),
      errors: Type.Optional(
        Type.Array(FieldError, { maxItems: 20, description: 'Every invalid field or parameter, at most 20.' }),
      ),
      details: Type.Optional(
        Type.Record(Type.String(), Type.Unknown(), {
          description: 'More about the error. The fields depend on `code`.',
        }),
      ),
    }),
  },
  { $id: 'Error', description: 'The response body of every request under `/v1` that fails.' },
)
export type ErrorReply = Static<typeof ErrorReply>
