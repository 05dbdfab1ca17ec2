import { type KnownError, knownError } from './error-catalogue.ts'

/** A Graph API error. Any Graph route can throw it; it becomes the response. */
export class GraphError extends Error {
  readonly error: KnownError

  constructor(code: number, change: Partial<KnownError> = {}) {
    const error = { ...(knownError(code) ?? { code, status: 400, title: 'Unknown error' }), ...change }
    super(error.title)
    this.error = error
  }
}

/** Throws the error with this code; `details` replaces its default details. */
export function refuse(code: number, details?: string): never {
  throw new GraphError(code, details === undefined ? {} : { details })
}

/** Throws Graph's parameter error: code 100, with the text as message and no `error_data`. */
export function refuseParameter(message: string): never {
  throw new GraphError(100, { title: message, details: '' })
}

export function refuseUnknownObject(verb: string, id: string): never {
  throw new GraphError(100, {
    title: `Unsupported ${verb.toLowerCase()} request. Object with ID '${id}' does not exist, cannot be loaded due to missing permissions, or does not support this operation. Please read the Graph API documentation at https://developers.facebook.com/docs/graph-api`,
    plain: true,
    subcode: 33,
  })
}

export function errorBody(error: KnownError, traceId: string) {
  return {
    error: {
      message: error.plain ? error.title : `(#${error.code}) ${error.title}`,
      type: error.subcode === 33 ? 'GraphMethodException' : 'OAuthException',
      code: error.code,
      ...(error.subcode === undefined ? {} : { error_subcode: error.subcode }),
      ...(error.transient ? { is_transient: true } : {}),
      ...(error.userTitle === undefined
        ? {}
        : { is_transient: false, error_user_title: error.userTitle, error_user_msg: error.userMessage }),
      ...(error.details && !error.plain
        ? { error_data: { messaging_product: 'whatsapp', details: error.details } }
        : {}),
      fbtrace_id: traceId,
    },
  }
}

/** The error as a `failed` status reports it. */
export function statusError(code: number) {
  const { title, details } = knownError(code) ?? { title: 'Unknown error', details: 'Unknown error' }
  return {
    code,
    title,
    message: title,
    error_data: { details: details ?? title },
    href: 'https://developers.facebook.com/docs/whatsapp/cloud-api/support/error-codes/',
  }
}
