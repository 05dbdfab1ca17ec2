import type { FailureExplanation } from '@parley/contract/console/deliveries'

/** Why an attempt failed, for whoever has to mend it; null if it did not. */
export function explainFailure(error: string | null, status: number | null): FailureExplanation | null {
  if (error === null) return null
  if (error === 'http' && status !== null) return answerTrouble(status)
  return connectionTroubles[error] ?? { title: `The attempt failed (${error}).`, remedy: 'Retry the delivery.' }
}

const connectionTroubles: Record<string, FailureExplanation> = {
  dns: {
    title: 'The name of the endpoint has no address.',
    remedy: 'Check the host in the URL for a slip, and that its DNS record exists and can be seen from here.',
  },
  connect: {
    title: 'No connection could be made.',
    remedy: 'Check that the server is running, listens on the port of the URL, and that its firewall lets us in.',
  },
  tls: {
    title: 'The certificate was not trusted, or the TLS handshake failed.',
    remedy: 'Renew the certificate, serve the whole chain with its intermediates, and check that it names this host.',
  },
  timeout: {
    title: 'There was no answer within ten seconds.',
    remedy: 'Answer 2xx first and do the work afterwards: put the event in a queue of your own.',
  },
  blocked: {
    title: 'The URL leads to an address that deliveries must not reach.',
    remedy:
      'Use a public address. For one in a private network, the operator names it in PARLEY_WEBHOOK_ALLOW_CIDRS; for plain http, in PARLEY_WEBHOOK_ALLOW_HTTP.',
  },
  protocol: {
    title: 'The connection ended before a proper answer came.',
    remedy: 'Check the receiver and the proxy before it for crashes: it closed the connection, or did not speak HTTP.',
  },
}

function answerTrouble(status: number): FailureExplanation {
  const title = `The endpoint answered ${status}.`
  if (status < 400) return { title, remedy: 'Redirects are not followed. Set the URL to where it leads in the end.' }
  return { title, remedy: answerRemedies[status] ?? (status < 500 ? refusedRemedy : brokenRemedy) }
}

const refusedRemedy = 'The receiver refused the event. Its answer below may say why.'
const brokenRemedy = 'The receiver broke while taking the event. Look for the event id in its logs at that time.'

const notLetIn =
  'The receiver did not accept the signature, or wants credentials of its own. Check that it uses the current signing secret and verifies the raw body.'

const answerRemedies: Record<number, string> = {
  400: 'The receiver could not read the event, or its signature check answers 400. Check the secret and that the raw body is verified.',
  401: notLetIn,
  403: notLetIn,
  404: 'There is nothing at this path. Check the path of the URL and that the route is deployed.',
  405: 'The path does not take POST. Check the path of the URL.',
  410: 'The receiver says that this address is gone for good. Change the URL or delete the endpoint.',
  413: 'The receiver takes no body of this size. Raise its limit; an event rarely has more than 64 KiB.',
  415: 'The receiver does not read application/json. Let it.',
  429: 'The receiver asks for fewer requests. Raise its limit for us; the retries come at growing intervals.',
  502: 'The proxy before the receiver could not reach it. Check that the application is running.',
  503: 'The receiver says that it cannot take requests just now. Check that the application is running.',
  504: 'The receiver took longer than the proxy before it waits. Answer 2xx first and do the work afterwards.',
}
