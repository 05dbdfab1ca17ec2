import { type ErrorCode, errorCatalogue } from '../errors.ts'

/** What only the console is refused with. Callers of /v1 never meet these, so their catalogue does not list them. */
const consoleOnly = {
  not_signed_in: { status: 401, type: 'authentication_error', message: 'Sign in to go on.' },
  wrong_credentials: { status: 401, type: 'authentication_error', message: 'That is not right. Try again.' },
  not_permitted: { status: 403, type: 'permission_error', message: 'Your role in this workspace does not allow this.' },
  confirmation_required: {
    status: 403,
    type: 'permission_error',
    message: 'Show once more that it is you: with your password or a code.',
  },
  two_factor_required: {
    status: 403,
    type: 'permission_error',
    message: 'This workspace asks its people for a second factor. Set one up under your account.',
  },
  cross_site: { status: 403, type: 'permission_error', message: 'The request does not come from the console itself.' },
  conflict: { status: 409, type: 'invalid_request_error', message: 'That is not possible as things stand.' },
  link_expired: {
    status: 410,
    type: 'invalid_request_error',
    message: 'This link was used already or is too old. Ask for a new one.',
  },
  too_many_tries: {
    status: 429,
    type: 'rate_limit_error',
    message: 'Too many wrong tries in a row. Wait a while, then try again.',
  },
} as const

export type ConsoleErrorCode = keyof typeof consoleOnly
export type AnyErrorCode = ErrorCode | ConsoleErrorCode

export const everyError: Readonly<Record<AnyErrorCode, { status: number; type: string; message: string }>> = {
  ...errorCatalogue,
  ...consoleOnly,
}
