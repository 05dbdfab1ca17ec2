import { type KnownError, knownError } from './error-catalogue.ts'

/** A call the network refuses. Thrown anywhere in a Graph route; the route answers with it. */
export class GraphError extends Error {
  readonly error: KnownError

  constructor(code: number, change: Partial<KnownError> = {}) {
    const error = { ...(knownError(code) ?? { code, status: 400, title: 'Unknown error' }), ...change }
    super(error.title)
    this.error = error
  }
}

/** Refuses with the code's own title; `details` says what exactly was wrong. */
export function refuse(code: number, details?: string): never {
  throw new GraphError(code, details === undefined ? {} : { details })
}

/** Refuses the way Graph complains about parameters: the complaint is the message, with no error_data. */
export function refuseParameter(complaint: string): never {
  throw new GraphError(100, { title: complaint, details: '' })
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
      ...(error.details && !error.plain
        ? { error_data: { messaging_product: 'whatsapp', details: error.details } }
        : {}),
      fbtrace_id: traceId,
    },
  }
}

/** The same error as a failed status carries it. */
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
