import { type DestinationStream, type Logger, pino, stdTimeFunctions } from 'pino'

export type { Logger }

const secretNames = [
  'authorization',
  'cookie',
  'set-cookie',
  'password',
  'secret',
  'token',
  'access_token',
  'accessToken',
  'app_secret',
  'appSecret',
  'verify_token',
  'verifyToken',
  'code',
  'body',
]

/** The logger is given ids, not payloads; what slips in under a telling name is blanked all the same. */
export function newLogger(level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    redact: {
      paths: secretNames.flatMap((name) => [`["${name}"]`, `*["${name}"]`, `*.*["${name}"]`]),
      censor: '[redacted]',
    },
    serializers: { err: plainError },
  }
  return destination ? pino(options, destination) : pino(options)
}

/** Of an error: its kind, its words and its stack. Not its other members, which may hold headers or rows. */
function plainError(error: unknown): unknown {
  if (!(error instanceof Error)) return { message: String(error) }
  const { name, message, stack } = error
  const cause = error.cause === undefined ? {} : { cause: plainError(error.cause) }
  const pgCode = 'code' in error && typeof error.code === 'string' ? { errorCode: error.code } : {}
  return { name, message, stack, ...pgCode, ...cause }
}
