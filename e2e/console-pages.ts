import type { Browser } from '../server/testing/console.ts'

export interface ConsolePage {
  name: string
  path: string
}

/** Every page of the console. The IDs in the paths are those of existing objects. */
export async function consolePages(console: Browser, workspaceId: string): Promise<ConsolePage[]> {
  const w = `/w/${workspaceId}`
  const first = async (path: string): Promise<string> => {
    const { status, body } = await console.call(`${w}/${path}`)
    const id = body?.data?.[0]?.id
    if (typeof id !== 'string') throw new Error(`${path} returned ${status} without any items: ${JSON.stringify(body)}`)
    return id
  }
  const some = ([name, path]: [string, string]) => ({ name, path })
  return (
    [
      // First, since it is loaded as a shared link; all others follow without a load.
      ['request', `${w}/requests?open=${await first('requests?limit=1')}`],
      ['overview', w],
      ['messages', `${w}/messages`],
      ['message', `${w}/messages/${await first('messages?direction=sent&limit=1')}`],
      ['contacts', `${w}/contacts`],
      ['contact', `${w}/contacts/16505550123`],
      ['templates', `${w}/templates`],
      ['template', `${w}/templates/${await first('templates?limit=1')}`],
      ['template-editor', `${w}/templates/new?from=${await first('templates?q=appointment_reminder')}`],
      ['senders', `${w}/senders`],
      ['sender', `${w}/senders/${await first('senders')}`],
      ['forms', `${w}/forms`],
      ['form', `${w}/forms/${await first('forms?limit=1')}`],
      ['orders', `${w}/orders`],
      ['order', `${w}/orders/${await first('orders?limit=1')}`],
      ['keys', `${w}/keys`],
      ['webhooks', `${w}/webhooks`],
      ['webhook', `${w}/webhooks/${await first('webhooks')}`],
      ['deliveries', `${w}/deliveries`],
      ['requests', `${w}/requests`],
      ['api-errors', `${w}/api-errors`],
      ['docs', `${w}/docs`],
      ['credits', `${w}/credits`],
      ['team', `${w}/team`],
      ['alerts', `${w}/alerts`],
      ['audit', `${w}/audit`],
      ['settings', `${w}/settings`],
      ['account', '/account'],
      ['conversation', '/conversation?phone=16505550123&sender=1'],
      ['workspaces', '/operator/workspaces'],
      ['apps', '/operator/apps'],
      ['updates', '/operator/updates'],
      ['health', '/operator/health'],
    ] as [string, string][]
  ).map(some)
}
