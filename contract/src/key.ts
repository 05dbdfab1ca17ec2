import { type Static, Type } from 'typebox'
import { described, Uuid } from './ids.ts'
import { Scopes } from './scopes.ts'

export const rateLimitRange = { minimum: 1, maximum: 100, default: 30 } as const

/** The response of `GET /v1/me`. */
export const Me = Type.Object(
  {
    account_id: described(Uuid, 'The ID of the workspace that the key belongs to.'),
    key: Type.Object(
      {
        id: described(Uuid, 'The ID of the key.'),
        name: Type.String({ description: 'The name of the key in the console.' }),
        scopes: Scopes,
      },
      { description: 'The API key of the request.' },
    ),
    rate_limit_per_min: Type.Integer({
      minimum: rateLimitRange.minimum,
      maximum: rateLimitRange.maximum,
      description: 'The rate limit of the key, in requests per minute.',
    }),
  },
  {
    $id: 'Me',
    description: 'The workspace, the key and its scopes.',
    examples: [
      {
        account_id: '6f1d2c3b-4a59-4687-9123-405162738495',
        key: {
          id: '0199b2f4-6c1e-7a53-9d0e-5f1f6a2b3c4d',
          name: 'Order service',
          scopes: ['messages:send', 'messages:read'],
        },
        rate_limit_per_min: 30,
      },
    ],
  },
)
export type Me = Static<typeof Me>
