/** A signed-in session. A path that starts with a colon is inside the workspace. */
export interface ConsoleSession {
  // biome-ignore lint/suspicious/noExplicitAny: responses of many shapes, read for the IDs of the next requests.
  get(path: string): Promise<{ ms: number; body: any }>
}

export interface PageRequest {
  page: string
  path: string
}

const day = 86_400_000
const ago = (days: number): string => new Date(Date.now() - days * day).toISOString()

/** The paginated lists, each without and with filters. */
const lists: Record<string, { noun: string; filters: string[] }> = {
  messages: {
    noun: 'messages',
    filters: [
      '',
      'direction=received',
      'direction=sent',
      ...['queued', 'sent', 'read', 'failed'].map((status) => `status=${status}`),
      ...['text', 'image', 'order', 'video', 'sticker'].map((type) => `type=${type}`),
      'phone=%2B52155007919',
      'phone=%2B34600000000',
      'q=52155007919',
      'q=order-3000',
      'q=wamid.s3001',
      'q=nothing',
      `from=${ago(20)}&to=${ago(19)}`,
      `status=failed&to=${ago(15)}`,
    ],
  },
  deliveries: {
    noun: 'deliveries',
    filters: [
      '',
      ...['waiting', 'held', 'delivered', 'failed'].map((state) => `state=${state}`),
      ...['message.received', 'message.delivered', 'message.failed', 'flow.completed', 'message.read'].map(
        (type) => `type=${type}`,
      ),
      ...['failed', 'held', 'waiting'].flatMap((state) =>
        ['flow.completed', 'message.received', 'message.failed'].map((type) => `type=${type}&state=${state}`),
      ),
      `since=${ago(16)}&until=${ago(15)}`,
    ],
  },
  requests: {
    noun: 'requests',
    filters: [
      '',
      ...['2xx', '4xx', '5xx', '403', '418'].map((status) => `status=${status}`),
      'code=rate_limited',
      'code=internal_error',
      'code=file_expired',
      'method=POST',
      'method=DELETE',
      'route=templates',
      'route=nowhere',
      'address=203.0.7.1',
      'address=198.51.100.1',
      `from=${ago(20)}&to=${ago(19)}`,
      `status=5xx&to=${ago(15)}`,
    ],
  },
  forms: {
    noun: 'forms',
    filters: ['', 'flow=form%202', 'flow=never', 'phone=%2B52155008380', `from=${ago(16)}&to=${ago(15)}`],
  },
  orders: { noun: 'orders', filters: ['', 'status=new', 'status=done', 'phone=%2B52155007919'] },
  credits: {
    noun: 'credits/entries',
    filters: [
      '',
      ...['grant', 'debit', 'refund', 'adjust'].map((kind) => `kind=${kind}`),
      `from=${ago(16)}&to=${ago(15)}`,
    ],
  },
  templates: { noun: 'templates', filters: ['', 'q=19', 'status=REJECTED', 'language=es'] },
  audit: {
    noun: 'audit',
    filters: ['', 'actor=person3%40example.com', 'actor=no-one', 'action=key', 'action=key.revoke', 'target=target-7'],
  },
}

/**
 * What is searched for: names and IDs, a rare and a common word, the beginning of many words, a rare with a common one, two common ones that
 * no message has both of, no result, a name, the first and the last digits of a number.
 */
const searches = [
  ...['Key 4', 'template_1', '52155007919', 'order-3000', 'wamid.s3001', 'nothing at all'],
  ...['3001', 'parcel', 'ar', 'parcel 3001', 'parcel ana', 'zebra', 'ana', '521550079', '7919'],
]

/** The requests of each page when it is opened, then its lists with filters, and their second pages. */
export async function* pageRequests({ get }: ConsoleSession): AsyncGenerator<PageRequest> {
  yield { page: 'every', path: 'session' }
  yield { page: 'every', path: ':credits' }
  for (const period of ['24h', '7d', '30d']) yield { page: 'overview', path: `:overview?period=${period}` }
  for (const path of [':problems', ':onboarding']) yield { page: 'overview', path }
  for (const noun of ['alerts', 'erasures']) yield { page: noun, path: `:${noun}` }
  for (const q of searches) {
    yield { page: 'palette', path: `:find?q=${encodeURIComponent(q)}` }
  }
  for (const noun of ['senders', 'keys', 'webhooks', 'team', 'settings', 'my-address']) {
    yield { page: noun, path: `:${noun}` }
  }
  yield { page: 'credits', path: ':credits/usage' }
  yield { page: 'audit', path: ':audit/facets' }
  for (const [page, { noun, filters }] of Object.entries(lists)) {
    for (const filter of filters) {
      yield* withSecondPage(get, page, `:${noun}?${filter === '' ? '' : `${filter}&`}limit=50`)
      if (page !== 'audit') yield { page, path: `:${noun}/total?${filter}` }
    }
  }
  yield* detailRequests(get)
  for (const since of ['24h', '7d', '30d']) {
    yield { page: 'refusals', path: `:refusals?since=${since}` }
    yield { page: 'refusals', path: `:refusals/rate_limited?since=${since}` }
  }
  for (const noun of ['workspaces', 'people', 'prices', 'audit?limit=50']) {
    yield { page: 'workspaces', path: `operator/${noun}` }
  }
  for (const noun of ['apps', 'connections']) yield { page: 'apps', path: `operator/${noun}` }
  for (const noun of ['health', 'traffic']) yield { page: 'health', path: `operator/${noun}` }
  for (const noun of ['two-factor', 'passkeys', 'sessions']) yield { page: 'account', path: `account/${noun}` }
}

/** A list, and its second page if there is one. */
async function* withSecondPage(get: ConsoleSession['get'], page: string, path: string): AsyncGenerator<PageRequest> {
  yield { page, path }
  const { body } = await get(path)
  if (body.next_cursor) yield { page, path: `${path}&cursor=${encodeURIComponent(body.next_cursor)}` }
}

/** Detail pages, and lists that are filtered by one object. */
async function* detailRequests(get: ConsoleSession['get']): AsyncGenerator<PageRequest> {
  const first = async (path: string) => (await get(path)).body.data[0]
  for (const filter of ['direction=sent&status=read', 'status=failed', 'direction=received', 'type=order']) {
    const { id } = await first(`:messages?${filter}&to=${ago(10)}&limit=1`)
    yield { page: 'message', path: `:messages/${id}` }
    yield { page: 'palette', path: `:find?q=${id}` }
  }
  for (const phone of ['52155007919', '52155000000']) {
    yield { page: 'contact', path: `:contacts/${phone}` }
    yield* withSecondPage(get, 'contact', `:contacts/${phone}/messages?limit=50`)
  }
  const [sender, template] = [await first(':senders'), await first(':templates?limit=1')]
  for (const filter of [`sender=${sender.id}`, `template=${template.id}`]) {
    yield* withSecondPage(get, 'messages', `:messages?${filter}&limit=50`)
    yield* withSecondPage(get, 'messages', `:messages?${filter}&status=failed&limit=50`)
  }
  yield { page: 'sender', path: `:senders/${sender.id}` }
  for (const period of ['24h', '7d', '30d']) {
    yield { page: 'sender', path: `:senders/${sender.id}/activity?period=${period}` }
  }
  yield { page: 'template', path: `:templates/${template.id}` }
  const [key, request] = [await first(':keys'), await first(`:requests?method=POST&to=${ago(12)}&limit=1`)]
  yield { page: 'key', path: `:keys/${key.id}` }
  yield* withSecondPage(get, 'requests', `:requests?key=${key.id}&limit=50`)
  yield* withSecondPage(get, 'requests', `:requests?key=${key.id}&code=rate_limited&limit=50`)
  yield { page: 'requests', path: `:requests?id=${request.id}` }
  yield { page: 'request', path: `:requests/${request.id}` }
  yield { page: 'palette', path: `:find?q=${request.id}` }
  const form = await first(':forms?limit=1')
  yield { page: 'form', path: `:forms/${form.id}` }
  yield { page: 'order', path: `:orders/${(await first(':orders?limit=1')).id}` }
  for (const { id } of (await get(':webhooks')).body.data) {
    yield { page: 'webhook', path: `:webhooks/${id}` }
    yield { page: 'webhook', path: `:webhooks/${id}/replays` }
    yield { page: 'webhook', path: `:webhooks/${id}/events` }
    for (const since of ['', `&since=${ago(30)}`, `&since=${ago(1)}`]) {
      yield { page: 'webhook', path: `:deliveries/bars?webhook=${id}${since}` }
    }
    for (const filter of ['', '&state=failed', '&state=waiting']) {
      yield* withSecondPage(get, 'webhook', `:deliveries?webhook=${id}${filter}&limit=50`)
    }
  }
  const delivery = await first(`:deliveries?until=${ago(10)}&limit=1`)
  yield { page: 'delivery', path: `:deliveries/${delivery.event_id}/${delivery.webhook_id}` }
  yield { page: 'deliveries', path: `:deliveries?event=${delivery.event_id}` }
  yield { page: 'palette', path: `:find?q=${delivery.event_id}` }
}
