/** Pages that have had another address, and the page that has their text. */
const moved: Readonly<Record<string, string>> = {
  agents: 'tools/agents',
  authentication: 'api/authentication',
  benchmarks: 'project/benchmarks',
  changelog: 'project/changelog',
  'command-line': 'tools/command-line',
  configuration: 'run/configuration',
  'connecting-meta': 'run/meta',
  decisions: 'project/decisions',
  events: 'events/types',
  forms: 'messages/forms',
  glossary: 'start/concepts',
  'going-live': 'run/going-live',
  idempotency: 'api/idempotency',
  'many-machines': 'run/scaling',
  media: 'messages/media',
  notifications: 'run/email',
  operating: 'run/requirements',
  orders: 'messages/orders',
  pagination: 'api/pagination',
  'personal-data': 'reference/personal-data',
  prices: 'start/concepts',
  quickstart: 'start/quickstart',
  'rate-limits': 'api/rate-limits',
  'reading-events': 'events/polling',
  receiving: 'events/webhooks',
  reliability: 'project/reliability',
  replays: 'events/replays',
  roles: 'run/accounts',
  sdk: 'tools/typescript',
  'sdk/python': 'tools/python',
  security: 'reference/security',
  sending: 'messages/sending',
  simulator: 'reference/simulator',
  templates: 'messages/templates',
  'test-keys': 'start/simulator',
  testing: 'tools/testing',
}

/** Folders that have had another name. */
const movedFolders: Readonly<Record<string, string>> = { 'decisions/': 'project/decisions/', 'sdk/': 'tools/' }

/** The name of a page that was called `name`, or undefined if there was none. */
export function movedTo(name: string): string | undefined {
  if (Object.hasOwn(moved, name)) return moved[name]
  const [folder = ''] = /^[^/]*\//.exec(name) ?? []
  return Object.hasOwn(movedFolders, folder) ? movedFolders[folder] + name.slice(folder.length) : undefined
}
