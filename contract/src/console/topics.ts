/** The topics of change notices. A notice has no data; a page of the console reloads what it shows. */
const topics = [
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
