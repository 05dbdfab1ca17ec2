import type { FailureExplanation } from '@parley/contract/console/deliveries'

/** Why an attempt failed and how to fix it; null if it did not fail. */
export function explainFailure(error: string | null, status: number | null): FailureExplanation | null {
  if (error === null) return null
  if (error === 'http' && status !== null) return explainStatus(status)
  return connectionFailures[error] ?? { title: `The attempt failed (${error}).`, remedy: 'Retry the delivery.' }
}

const connectionFailures: Record<string, FailureExplanation> = {
  dns: {
    title: 'The host name was not found, or its name server did not respond.',
    remedy:
      'Check the host in the URL for typos, that its DNS record exists and is visible to this server, and that the name servers of its domain respond.',
  },
  connect: {
    title: 'The connection failed.',
    remedy:
      'Check that the server is running and listens on the port in the URL, and that its firewall allows this server.',
  },
  tls: {
    title: 'The certificate is not trusted, or the TLS handshake failed.',
    remedy:
      'Check that the certificate is valid and issued for this host, and that the server sends the intermediate certificates.',
  },
  timeout: {
    title: 'No response within 10 seconds.',
    remedy: 'Return a 2xx status first and process the event afterwards, for example from a queue.',
  },
  blocked: {
    title: 'Deliveries to this address are not allowed.',
    remedy:
      'Use a public address. To allow a private network, the operator sets PARLEY_WEBHOOK_ALLOW_CIDRS; to allow plain http, PARLEY_WEBHOOK_ALLOW_HTTP.',
  },
  protocol: {
    title: 'The connection ended without a valid HTTP response.',
    remedy: 'Check the receiver and any proxy in front of it for crashes, and that the port in the URL serves HTTP.',
  },
}

function explainStatus(status: number): FailureExplanation {
  const title = `The endpoint returned ${status}.`
  if (status < 400) return { title, remedy: 'Redirects are not followed. Change the URL to the final address.' }
  return { title, remedy: remedyByStatus[status] ?? (status < 500 ? clientErrorRemedy : serverErrorRemedy) }
}

const clientErrorRemedy = 'The receiver rejected the event. Its response below may say why.'
const serverErrorRemedy = 'The receiver failed while processing the event. Search its logs for the event ID.'

const unauthorizedRemedy =
  'The receiver rejected the signature, or requires credentials. Check that it uses the current signing secret and verifies the raw body.'

const remedyByStatus: Record<number, string> = {
  400: 'The receiver could not read the event, or its signature check failed. Check that it uses the current signing secret and verifies the raw body.',
  401: unauthorizedRemedy,
  403: unauthorizedRemedy,
  404: 'The receiver found nothing at this path. Check the path of the URL and that the route is deployed.',
  405: 'The receiver does not accept POST at this path. Check the path of the URL.',
  410: 'The endpoint says that this URL was removed permanently. Change the URL or delete the webhook.',
  413: 'The event is larger than the receiver allows. Raise its limit; an event rarely has more than 64 KiB.',
  415: 'The receiver does not accept application/json. Configure it to accept JSON.',
  429: 'The receiver limits the rate of requests. Raise its limit for deliveries; retries come at growing intervals.',
  502: 'The proxy in front of the receiver could not reach it. Check that the application is running.',
  503: 'The receiver is temporarily unavailable. Check that the application is running.',
  504: 'The receiver took longer than the proxy in front of it allows. Return a 2xx status first and process the event afterwards.',
}
