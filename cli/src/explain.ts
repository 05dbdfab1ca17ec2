import { everyError } from '@parley/contract/console/errors'
import { ParleyError } from '@parley/sdk/error'
import { isDatabaseUnavailable } from '@parley/server/db/connect/is-unavailable'
import { Refusal, StartupError } from '@parley/server/lib/refuse'
import { type Command, UsageError } from './command.ts'
import { usageLine } from './help.ts'
import { program } from './program.ts'
import { notFound } from './short-ids.ts'

/** The error of a command, for people. */
export function explain(error: unknown, command: Command, args: readonly string[]): string {
  if (error instanceof UsageError) {
    return `${error.message}\n\n${usageLine(command)}\n\nRun "${program.name} ${command.name} --help" for options and examples.`
  }
  if (error instanceof StartupError) return error.message
  if (error instanceof Refusal) {
    const faults = error.parts.errors?.map(({ message }) => message) ?? []
    return faults.length > 0 ? faults.join('\n') : messageOf(error, command, args)
  }
  if (error instanceof ParleyError) return requestFailed(error)
  if (isDatabaseUnavailable(error)) return databaseAway(error)
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

/** The same for programs, in the shape that errors of the API have. */
export function errorJson(error: unknown, command: Command, args: readonly string[]) {
  if (error instanceof Refusal) {
    const { code, parts } = error
    const { param, errors } = parts
    const message = messageOf(error, command, args)
    return { error: { type: everyError[code].type, code, message, ...(param && { param }), ...(errors && { errors }) } }
  }
  if (error instanceof UsageError) {
    return { error: { type: 'invalid_request_error', code: 'invalid_usage', message: error.message } }
  }
  if (error instanceof ParleyError) {
    const { type, code, param, errors } = error
    const message = requestFailed(error)
    return { error: { type, code, message, ...(param && { param }), ...(errors.length > 0 && { errors }) } }
  }
  const message = error instanceof StartupError ? error.message : explain(error, command, args).split('\n')[0]
  return { error: { type: 'api_error', code: 'command_failed', message } }
}

/** "Not found." does not say what. */
function messageOf({ code, message }: Refusal, { idOf }: Command, [id]: readonly string[]): string {
  if (code !== 'not_found' || message !== everyError.not_found.message || !idOf || id === undefined) return message
  return notFound(idOf, id)
}

/** An error of the API, or of the way to it. */
function requestFailed({ code, message, errors, details }: ParleyError): string {
  if (code === 'insufficient_scope') {
    const scopes = [details.granted_scopes, details.required_scope].flat().join(',')
    return `${message} An operator adds it with: ./parley key change ID --scope ${scopes}`
  }
  // The SDK names its own setting.
  if (errors.length === 0) return message.replaceAll('baseUrl', 'the URL')
  return errors.map((each) => each.message).join('\n')
}

export const databaseAway = (error: unknown): string =>
  `The database does not respond: ${error instanceof Error ? error.message : String(error)}.`
