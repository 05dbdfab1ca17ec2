/** What a page of the console may want to hear of, without being told the thing itself: a hint to ask again. */
export const topics = [
  'requests',
  'deliveries',
  'messages',
  'webhooks',
  'keys',
  'credits',
  'orders',
  'forms',
  'templates',
  'senders',
  'team',
  'audit',
] as const
export type Topic = (typeof topics)[number]
