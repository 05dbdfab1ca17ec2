/**
 * Why a host name has no addresses.
 * - `not_found`: its name server says that the name, or an address of it, does not exist.
 * - `no_response`: its name server does not respond, or only with errors, while our resolver responds for other names.
 * - `resolver_down`: our own resolver does not respond for other names either.
 * - `too_many`: the workspace has too many look-ups in progress.
 */
export type LookupFailure = 'not_found' | 'no_response' | 'resolver_down' | 'too_many'

const messages: Record<LookupFailure, string> = {
  not_found: 'the name was not found',
  no_response: 'its name server did not respond',
  resolver_down: 'the resolver of this installation does not respond',
  too_many: 'too many names are being looked up for this workspace',
}

export class LookupError extends Error {
  override readonly name = 'LookupError'
  readonly reason: LookupFailure

  constructor(reason: LookupFailure) {
    super(messages[reason])
    this.reason = reason
  }

  /** The cause is this installation, not the name: it says nothing about the endpoint. */
  get isOurs(): boolean {
    return this.reason === 'resolver_down' || this.reason === 'too_many'
  }
}
