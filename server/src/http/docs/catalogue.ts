/** A page of /docs. */
export interface DocsPage {
  /** Its path is `/docs/<name>`. */
  name: string
  title: string
  /** One line for lists of pages. */
  summary: string
  /** The Markdown file in the repository. Pages without one are generated. */
  file?: string
  /** Its name in the navigation, if that is not the title. */
  label?: string
}

/** Its label is the tag of the routes that it describes. */
export interface ApiPage extends DocsPage {
  label: string
}

export interface DocsGroup {
  title: string
  pages: readonly DocsPage[]
}

const page = (name: string, title: string, summary: string, file = `docs/${name}.md`): DocsPage => ({
  name,
  title,
  summary,
  file,
})

/** A file to copy into a project. */
const code = (title: string, summary: string, file: string): DocsPage =>
  page(`sdk/${file.split('/').at(-1)}`, title, summary, file)

const generated = (name: string, title: string, summary: string, label = title): ApiPage => ({
  name,
  title,
  summary,
  label,
})

const api = (name: string, tag: string, summary: string): ApiPage =>
  generated(`api/${name}`, `${tag} API`, summary, tag)

/** The pages of the API reference: one for each tag of the routes. */
export const apiPages: readonly ApiPage[] = [
  api('identity', 'Identity', 'The API key of the request and its workspace.'),
  api('senders', 'Senders', 'The phone numbers of the workspace.'),
  api('templates', 'Templates', 'The message templates of the workspace and their variables.'),
  api('messages', 'Messages', 'Sending messages, and their statuses.'),
  api(
    'inbound-messages',
    'Inbound messages',
    'Messages that people sent to the numbers of the workspace, and their files.',
  ),
  api('media', 'Media', 'Files to send.'),
  api('forms', 'Forms', 'Submitted forms and the files in them.'),
  api('webhooks', 'Webhooks', 'The endpoints that events are sent to.'),
  api('events', 'Events', 'What happens in the workspace: read events, or receive them with webhooks.'),
  generated('api/openapi', 'OpenAPI document', 'The description of the API for programs.', 'OpenAPI'),
]

/** The pages, in the order of the navigation. */
export const docsGroups: readonly DocsGroup[] = [
  {
    title: 'Get started',
    pages: [
      page('quickstart', 'Quickstart', 'Send the first message in curl, JavaScript, Python, Go or PHP.'),
      page('testing', 'Testing your bot', 'Test a bot in CI, with vitest or pytest, against a simulated network.'),
      page('agents', 'Agents', 'Let an agent use the API over the Model Context Protocol.'),
    ],
  },
  {
    title: 'Guides',
    pages: [
      page('sending', 'Sending', 'Templates, replies, interactive messages, files, retries and statuses.'),
      page('templates', 'Templates', 'Find a template, fill in its variables, and what WhatsApp refuses.'),
      page('forms', 'Forms', 'Send a form, receive submissions, and download uploaded files.'),
      page('media', 'Media', 'Upload files to send, and download the files that people send.'),
      page('receiving', 'Receiving', 'Webhooks: verify signatures, respond quickly, handle duplicates, retries.'),
      page('reading-events', 'Reading events', 'Poll events with a cursor instead of receiving webhooks.'),
      page('replays', 'Replays', 'Send past events to a webhook again, or for the first time.'),
    ],
  },
  {
    title: 'API basics',
    pages: [
      page('authentication', 'Authentication and scopes', 'Create API keys, and limit what they can do.'),
      page('rate-limits', 'Rate limits', 'Requests a minute, the headers, and what to do after 429.'),
      page('pagination', 'Pagination', 'Read lists page by page, with a cursor.'),
      page('idempotency', 'Idempotency', 'Repeat a request without sending a message twice.'),
      generated('errors', 'Errors', 'Every error code: what it means and what to do.'),
      page('prices', 'Prices and credits', 'What a message costs, and when credits are spent and refunded.'),
      page('test-keys', 'Live keys and the simulator', 'Test without sending to real phones.'),
      page('orders', 'Orders', 'Receive orders from your catalog, and process them in the console.'),
      page('roles', 'Roles', 'What admins, developers and members can do in the console.'),
    ],
  },
  {
    title: 'API reference',
    pages: [
      generated('api', 'API reference', 'Every endpoint, and what all of them have in common.', 'Overview'),
      ...apiPages,
      generated('events', 'Event types', 'Every event: its fields, and an example.'),
    ],
  },
  {
    title: 'Libraries',
    pages: [
      page('sdk', 'TypeScript SDK', 'A client for TypeScript and JavaScript, and webhook adapters.', 'sdk/README.md'),
      page('sdk/python', 'Python SDK', 'A client for Python, and a webhook receiver.', 'sdk/python/README.md'),
      code('Python verifier', 'Verify webhooks in Python without the SDK.', 'sdk/python/src/parley/verify.py'),
      code('Go verifier', 'Verify webhooks in Go.', 'sdk/go/verify.go'),
      code('PHP verifier', 'Verify webhooks in PHP.', 'sdk/php/verify.php'),
      code('Ruby verifier', 'Verify webhooks in Ruby.', 'sdk/ruby/verify.rb'),
      code('Test vectors', 'Deliveries to test your own verifier with, valid and invalid ones.', 'sdk/vectors.json'),
    ],
  },
  {
    title: 'Run it',
    pages: [
      page('going-live', 'Going live', 'From the simulated network to real numbers: a checklist.'),
      page('connecting-meta', 'Connecting WhatsApp', 'Connect a Meta app and a WhatsApp Business account.'),
      page('many-machines', 'Many machines', 'Run several processes and machines on one database.'),
      page('operating', 'Operating', 'PostgreSQL, TLS, backups, upgrades, metrics, logs.'),
      page('configuration', 'Configuration', 'Every environment variable.'),
      page('notifications', 'Notifications', 'Which problems are announced, to whom and how.'),
      page('personal-data', 'Personal data', 'What is stored about people, exporting and erasing it.'),
      page('security', 'Security', 'What is protected, against whom, and the tests that prove it.'),
      page('reliability', 'Reliability', 'What was kept when processes, connections and PostgreSQL failed.'),
      page('benchmarks', 'Benchmarks', 'What a process handles, with the commands to repeat it.'),
    ],
  },
  {
    title: 'Reference',
    pages: [
      page('command-line', 'Command line', 'Send messages, follow events and requests, and operate the service.'),
      page('simulator', 'Simulator', 'The simulated WhatsApp network and its phones.', 'simulator/README.md'),
      page('glossary', 'Glossary', 'The terms that Parley uses.'),
      page('changelog', 'Changelog', 'What changed, by version.', 'CHANGELOG.md'),
    ],
  },
]

export const docsPages: readonly DocsPage[] = docsGroups.flatMap(({ pages }) => pages)

/** Words that readers search for, and the page or the section that they mean. */
export const searchTerms: Readonly<Record<string, string>> = {
  scope: 'authentication',
  scopes: 'authentication',
  'api key': 'authentication',
  'rate limit': 'rate-limits',
  '429': 'errors#rate_limited',
  throttling: 'rate-limits',
  paging: 'pagination',
  cursor: 'pagination',
  price: 'prices',
  credits: 'prices',
  billing: 'prices',
  'test key': 'test-keys',
  'test mode': 'test-keys',
  sandbox: 'test-keys',
  permissions: 'roles',
  'retry schedule': 'receiving#retries',
  backoff: 'receiving#retries',
  gdpr: 'personal-data',
  privacy: 'personal-data',
  python: 'sdk/python',
  go: 'sdk/verify.go',
  golang: 'sdk/verify.go',
  php: 'sdk/verify.php',
  ruby: 'sdk/verify.rb',
  rails: 'sdk/verify.rb',
  typescript: 'sdk',
  javascript: 'sdk',
  node: 'sdk',
}

/** Pages about the program itself, which are long and say little about how to use it. */
export const aboutTheProgram: ReadonlySet<string> = new Set([
  'benchmarks',
  'security',
  'reliability',
  'changelog',
  'simulator',
  'sdk/vectors.json',
])
