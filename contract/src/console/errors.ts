import { type ErrorCode, errorCatalogue } from '../errors.ts'

/**
 * Errors that only the console's own requests get. They are not in the public catalogue, because /v1 never returns
 * them.
 */
const consoleOnly = {
  not_signed_in: { status: 401, type: 'authentication_error', message: 'Sign in to continue.' },
  wrong_credentials: {
    status: 401,
    type: 'authentication_error',
    message: 'Wrong email, password or code. Try again.',
  },
  not_permitted: { status: 403, type: 'permission_error', message: 'Your role in this workspace does not allow this.' },
  confirmation_required: {
    status: 403,
    type: 'permission_error',
    message: 'Confirm your identity with your password or a code.',
  },
  two_factor_required: {
    status: 403,
    type: 'permission_error',
    message: 'This workspace requires two-factor authentication. Set it up under Your account.',
  },
  passkey_required: {
    status: 403,
    type: 'permission_error',
    message: 'Operators need a second factor, and yours is a passkey. Sign in with “Use a passkey”.',
  },
  account_disabled: {
    status: 403,
    type: 'permission_error',
    message: 'Your account is disabled. Ask an operator of this installation to enable it.',
  },
  cross_site: { status: 403, type: 'permission_error', message: 'The request does not come from the console.' },
  conflict: { status: 409, type: 'invalid_request_error', message: 'This is not possible in the current state.' },
  link_expired: {
    status: 410,
    type: 'invalid_request_error',
    message: 'This link has expired or was already used. Ask for a new one.',
  },
  too_many_attempts: {
    status: 429,
    type: 'rate_limit_error',
    message: 'Too many failed attempts. Wait a few minutes, then try again.',
  },
} as const

type ConsoleErrorCode = keyof typeof consoleOnly
export type AnyErrorCode = ErrorCode | ConsoleErrorCode

export const everyError: Readonly<Record<AnyErrorCode, { status: number; type: string; message: string }>> = {
  ...errorCatalogue,
  ...consoleOnly,
}
