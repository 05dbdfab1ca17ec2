import { type DestinationStream, pino, stdTimeFunctions } from 'pino'
import type { LogLevel, logEvents } from './log-events.ts'

/** Every log line has an event of `log-events.ts`, fields in snake_case, and one plain message. */
export type Logger = { [Level in LogLevel]: (fields: LogFields<Level>, message: string) => void }

type LogFields<Level extends LogLevel> = Readonly<Record<string, unknown>> & {
  readonly event: (typeof logEvents)[Level][number]
}

const secretNames =
  'authorization cookie set-cookie password secret token access_token accessToken app_secret appSecret verify_token verifyToken code body'.split(
    ' ',
  )

/** Callers log ids, not payloads. As a second defence, fields with these names are redacted. */
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

/** Logs the name, message and stack of an error. Its other members may hold headers or rows. */
function plainError(error: unknown): unknown {
  if (!(error instanceof Error)) return { message: String(error) }
  const { name, message, stack } = error
  const cause = error.cause === undefined ? {} : { cause: plainError(error.cause) }
  const pgCode = 'code' in error && typeof error.code === 'string' ? { errorCode: error.code } : {}
  return { name, message, stack, ...pgCode, ...cause }
}
