import { newUuid } from '@parley/server/lib/ids'
import { signatureOf, text, webhookOf } from '../../../server/testing/network-app.ts'

/** What signs the network's webhooks, and where they go. */
export interface PostingApp {
  secret: string
  path: string
}

/** Posts a webhook as the network does. The status is 0 if there was no response in time. */
export async function postBody(
  { secret, path }: PostingApp,
  url: string,
  body: string,
  timeoutMs = 10_000,
): Promise<{ status: number; retryAfter: string | null }> {
  try {
    const response = await fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-hub-signature-256': signatureOf(secret, body) },
      body,
      signal: AbortSignal.timeout(timeoutMs),
    })
    await response.arrayBuffer()
    return { status: response.status, retryAfter: response.headers.get('retry-after') }
  } catch {
    return { status: 0, retryAfter: null }
  }
}

/** The same, for its status only. */
export const postWebhook = async (...posted: Parameters<typeof postBody>): Promise<number> =>
  (await postBody(...posted)).status

export const newWamid = (): string => `wamid.${newUuid()}`

export const inboundWebhook = (phoneNumberId: string, wamids: readonly string[]): string =>
  JSON.stringify(
    webhookOf(
      phoneNumberId,
      wamids.map((id) => text(id)),
    ),
  )

/** The network reports the status of messages that it accepted from this number. */
export function statusWebhook(
  phoneNumberId: string,
  messages: readonly { wamid: string; id: string; to: string }[],
  status: string,
): string {
  const statuses = messages.map(({ wamid, id, to }) => ({
    id: wamid,
    status,
    timestamp: String(Math.floor(Date.now() / 1000)),
    recipient_id: to,
    biz_opaque_callback_data: id,
  }))
  const metadata = { display_phone_number: '15550780001', phone_number_id: phoneNumberId }
  const value = { messaging_product: 'whatsapp', metadata, statuses }
  return JSON.stringify({
    object: 'whatsapp_business_account',
    entry: [{ id: '1', changes: [{ field: 'messages', value }] }],
  })
}
